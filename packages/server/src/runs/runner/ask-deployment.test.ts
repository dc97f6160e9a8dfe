import { expect, test } from "bun:test";
import { createFairSlots } from "../../platform/limits/turns.ts";
import { type AskServices, askDeployment } from "./ask-deployment.ts";

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
    askDeployment(
      services,
      {
        accountId: "a",
        keyId: undefined,
        deployment: "one",
        model: undefined,
        messages: [],
        params: {},
        session: "s",
        isFedBack: false,
        mayRetry: () => true,
      },
      AbortSignal.timeout(10_000),
    ),
  );
  expect((await Promise.all(asked)).map(({ output }) => output)).toEqual(Array(10).fill("next"));
  expect(most).toBe(5);
});
