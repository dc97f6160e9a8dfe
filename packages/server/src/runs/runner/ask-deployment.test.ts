import { expect, test } from "bun:test";
import { ClientDisconnectedError, UpstreamError } from "../../platform/errors.ts";
import { createFairSlots } from "../../platform/limits/turns.ts";
import { completeThroughWorld, type WorldServices } from "../../worlds/complete-through-world.ts";
import type { ReadyWorld } from "../../worlds/world.ts";
import { type AskServices, askDeployment } from "./ask-deployment.ts";

const request = {
  ...{ accountId: "a", keyId: undefined, deployment: "one", model: undefined, messages: [], params: {} },
  ...{ session: "s", isFedBack: false, mayRetry: () => true },
};

test("runs use the places that live predictions leave, however many of their steps wait for one", async () => {
  let [calls, most] = [0, 0];
  const complete = async () => {
    calls += 1;
    most = Math.max(most, calls);
    await Bun.sleep(20);
    calls -= 1;
    return { body: { choices: [{ message: { content: "next" } }] }, deployment: "one" };
  };
  const services = {
    deployments: { find: () => ({ name: "one", controlTokens: "accept", upstream: { complete } }) },
    slots: createFairSlots({ slots: 10 }),
    calls: { inFlight: 0 },
    liveInFlight: () => 95,
    maxInFlight: 100,
  } as unknown as AskServices;
  const asked = Array.from({ length: 10 }, () =>
    askDeployment(services, request, AbortSignal.timeout(10_000)),
  );
  expect((await Promise.all(asked)).map(({ output }) => output)).toEqual(Array(10).fill("next"));
  expect(most).toBe(5);
});

test("samples that end as another one failed are no failures of their own", async () => {
  let asked = 0;
  const complete = async (_: unknown, signal: AbortSignal) => {
    asked += 1;
    if (asked === 2) throw new UpstreamError("unavailable", "Away.", { status: 503 });
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(new ClientDisconnectedError()));
    return await promise;
  };
  const failures: unknown[] = [];
  const services = {
    deployments: { find: () => ({ name: "one", upstream: { complete } }) },
    slots: createFairSlots({ slots: 10 }),
    calls: { inFlight: 0 },
    liveInFlight: () => 0,
    maxInFlight: 100,
    recordCall: ({ failure }: { failure: unknown }) => failures.push(failure),
  } as unknown as AskServices;
  const config = { confidence: { methods: ["agreement"], samples: 4 } };
  const ofWorld = { exampleTexts: {}, findDeployment: () => ({ complete, timeoutMs: 1_000 }) };
  const through = {
    complete: completeThroughWorld(
      ofWorld as unknown as WorldServices,
      { name: "w", revision: 1, config, pinned: {} } as unknown as ReadyWorld,
      { interaction: { state: "", action: "go" } },
    ),
    toStored: () => "",
  };
  const asking = askDeployment(services, { ...request, through }, AbortSignal.timeout(10_000));
  expect(await asking.catch((error: unknown) => error)).toMatchObject({ category: "unavailable" });
  expect([asked, failures]).toEqual([4, ["unavailable"]]);
});
