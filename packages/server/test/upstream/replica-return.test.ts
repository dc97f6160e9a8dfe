import { expect, test } from "bun:test";
import type { UpstreamOptions } from "../../src/upstream/create-upstream.ts";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import { expectEventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { completion } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const noSignal = new AbortController().signal;

/** A replica that can disappear and come back at its address. */
async function createReplica() {
  const port = await freePort();
  const replica = {
    url: `http://127.0.0.1:${port}/v1`,
    probes: 0,
    calls: 0,
    inFlight: 0,
    mostInFlight: 0,
    delayMs: 0,
    status: 200,
    released: Promise.resolve(),
    server: undefined as Bun.Server<undefined> | undefined,
    start() {
      replica.server = Bun.serve({
        hostname: "127.0.0.1",
        port,
        async fetch({ url }) {
          if (url.endsWith("/models")) {
            replica.probes += 1;
            return Response.json({ data: [{ id: "m" }] });
          }
          replica.calls += 1;
          replica.inFlight += 1;
          replica.mostInFlight = Math.max(replica.mostInFlight, replica.inFlight);
          await Bun.sleep(replica.delayMs);
          await replica.released;
          replica.inFlight -= 1;
          return Response.json(completion(replica.url), { status: replica.status });
        },
      });
    },
    async stop() {
      await replica.server?.stop(true);
    },
  };
  replica.start();
  return replica;
}

type TestReplica = Awaited<ReturnType<typeof createReplica>>;

async function createFleet(count: number, options: Partial<UpstreamOptions> = {}) {
  const replicas = await Promise.all(Array.from({ length: count }, createReplica));
  const clock = { nowMs: 0 };
  const upstream = createUpstream({
    name: "default",
    urls: replicas.map(({ url }) => url),
    apiKey: undefined,
    model: "m",
    timeoutMs: 10_000,
    retries: 2,
    nowMs: () => clock.nowMs,
    ...options,
  });
  const ask = async (session: string) => {
    const messages = [{ role: "user", content: "Hello" }];
    const header = { name: "x-session-id", value: session };
    return (await upstream.complete({ messages }, noSignal, { session: header })).body.choices[0].message
      .content;
  };
  const stateOf = ({ url }: TestReplica) =>
    upstream.replicas.all.find((one) => one.url === url)?.health.state();
  const [first] = replicas;
  if (first === undefined) throw new Error("There is at least one.");
  return {
    upstream,
    replicas,
    first,
    clock,
    ask,
    stateOf,
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.stop()));
    },
  };
}

async function inTurn<Given, Value>(
  given: readonly Given[],
  each: (one: Given) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = [];
  for (const one of given) values.push(await each(one));
  return values;
}

const sessions = Array.from({ length: 48 }, (_, place) => `rollout-${place}`);

test("a replica that is gone is ejected, is left alone for 5 s, and then returns by a probe and one call", async () => {
  await using fleet = await createFleet(4);
  const { first, clock, ask, stateOf } = fleet;
  const before = await inTurn(sessions, ask);
  await first.stop();
  for (const session of sessions) expect(await ask(session)).not.toBe(first.url);
  expect(stateOf(first)).toBe("ejected");

  first.start();
  first.calls = 0;
  clock.nowMs = 4_999;
  for (const session of sessions) await ask(session);
  expect([first.probes, first.calls]).toEqual([0, 0]);

  clock.nowMs = 5_000;
  await ask("any");
  await expectEventually(() => stateOf(first), "returning");
  expect([first.probes, first.calls]).toEqual([1, 0]);
  const ofFirst = sessions.filter((_, place) => before[place] === first.url);
  expect(await ask(ofFirst[0] ?? "")).toBe(first.url);
  expect(stateOf(first)).toBe("up");
  expect(await inTurn(ofFirst, ask)).toEqual(ofFirst.map(() => first.url));
});

test("a replica that returns gets one call until that is answered, and never more than its share after it", async () => {
  await using fleet = await createFleet(4);
  const { first, clock, ask, stateOf } = fleet;
  await first.stop();
  for (const session of sessions) await ask(session);
  first.start();
  first.mostInFlight = 0;
  clock.nowMs = 5_000;
  await ask("any");
  await expectEventually(() => stateOf(first), "returning");
  for (const replica of fleet.replicas) replica.delayMs = 50;
  const crowd = sessions.map(ask);
  await expectEventually(() => first.inFlight, 1);
  expect(first.mostInFlight).toBe(1);
  await Promise.all(crowd);
  expect(stateOf(first)).toBe("up");
  await Promise.all(sessions.map(ask));
  expect(first.mostInFlight).toBeLessThanOrEqual(Math.ceil((sessions.length / 4) * 1.5));
});

test("a replica that is silent is ejected by its first-byte time-outs, which are not tried again", async () => {
  await using fleet = await createFleet(2, { firstByteTimeoutMs: 1_500 });
  const { first, replicas, ask, stateOf } = fleet;
  const answerers = await inTurn(sessions, ask);
  const ofFirst = sessions.filter((_, place) => answerers[place] === first.url);
  first.delayMs = 60_000;
  const before = replicas.map(({ calls }) => calls);
  for (const session of ofFirst.slice(0, 3)) {
    expect(await ask(session).catch((error: unknown) => error)).toMatchObject({ category: "timeout" });
  }
  expect(replicas.map(({ calls }, place) => calls - (before[place] ?? 0))).toEqual([3, 0]);
  expect(stateOf(first)).toBe("ejected");
  expect(await ask(ofFirst[0] ?? "")).toBe(replicas[1]?.url ?? "");
});

test("never more than half of the replicas are ejected", async () => {
  await using fleet = await createFleet(4);
  const { replicas, ask, stateOf } = fleet;
  for (const replica of replicas.slice(1)) await replica.stop();
  for (const session of [...sessions, ...sessions]) await ask(session).catch(() => undefined);
  expect(replicas.filter((replica) => stateOf(replica) === "ejected")).toHaveLength(2);
});

test("a call beyond the limits of all replicas is refused, and asks none", async () => {
  await using fleet = await createFleet(2, { maxInFlightPerReplica: 2 });
  for (const replica of fleet.replicas) replica.delayMs = 100;
  const settled = await Promise.allSettled(sessions.slice(0, 6).map(fleet.ask));
  const refused = settled.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ reason: { category: "unavailable" } });
  expect(fleet.replicas.map(({ calls }) => calls)).toEqual([2, 2]);
});

test("the limit of a deployment's only replica is kept as well", async () => {
  await using fleet = await createFleet(1, { maxInFlightPerReplica: 2 });
  fleet.first.delayMs = 100;
  const settled = await Promise.allSettled(sessions.slice(0, 5).map(fleet.ask));
  expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(3);
  expect(fleet.first.mostInFlight).toBe(2);
});

slowTest(
  "lists of models say nothing about a replica: neither its latency nor that its model answers",
  async () => {
    await using fleet = await createFleet(1, { hasFallback: true, firstByteTimeoutMs: 1_500 });
    const { first, ask, stateOf, upstream } = fleet;
    const [replica] = upstream.replicas.all;
    await upstream.listModels(noSignal);
    expect([replica?.requests, replica?.latency.percentiles()]).toEqual([0, undefined]);
    first.delayMs = 60_000;
    for (const session of sessions.slice(0, 3)) {
      await upstream.listModels(noSignal);
      expect(await ask(session).catch((error: unknown) => error)).toMatchObject({ category: "timeout" });
    }
    expect(stateOf(first)).toBe("ejected");
  },
);

test("the only replica of a deployment is never held back by its 429s, and shows no limit", async () => {
  await using fleet = await createFleet(1);
  const { first, ask, upstream } = fleet;
  first.status = 429;
  await ask("any").catch(() => undefined);
  expect(upstream.replicas.all[0]?.limit).toBe(Number.POSITIVE_INFINITY);
});

test("a 429 halves what its replica may hold, once for a crowd, and each success raises it by one", async () => {
  await using fleet = await createFleet(2);
  const { first, ask, upstream } = fleet;
  const answerers = await inTurn(sessions, ask);
  const ofFirst = sessions.filter((_, place) => answerers[place] === first.url);
  const session = ofFirst[0] ?? "";
  const limit = () => upstream.replicas.all.find(({ url }) => url === first.url)?.limit;
  expect(limit()).toBe(Number.POSITIVE_INFINITY);
  // All requests are in flight before the first answer, so they form one burst.
  const released = Promise.withResolvers<void>();
  for (const replica of fleet.replicas) replica.released = released.promise;
  first.status = 429;
  const crowd = Array.from({ length: 16 }, () => ask(session).catch(() => undefined));
  await expectEventually(() => fleet.replicas.reduce((sum, { inFlight }) => sum + inFlight, 0), 16);
  const held = first.inFlight;
  expect(held).toBeGreaterThanOrEqual(4);
  fleet.clock.nowMs += 1;
  released.resolve();
  await Promise.all(crowd);
  const halved = Math.floor(held / 2);
  expect(limit()).toBe(halved);
  first.status = 200;
  for (let success = 1; success <= 5; success += 1) {
    expect(await ask(session)).toBe(first.url);
    expect(limit()).toBe(halved + success);
  }
});
