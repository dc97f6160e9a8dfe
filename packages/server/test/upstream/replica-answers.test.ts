import { expect, test } from "bun:test";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import { expectEventually } from "../support/eventually.ts";
import { type Answer, completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

const noSignal = new AbortController().signal;
const sessions = Array.from({ length: 48 }, (_, place) => `rollout-${place}`);

async function startFleet(count: number) {
  const replicas = Array.from({ length: count }, (_, place) =>
    startUpstream(() => Response.json(completion(`replica ${place}`))),
  );
  const clock = { nowMs: 0 };
  const lost: { url: string; reason: unknown }[] = [];
  const upstream = createUpstream({
    name: "default",
    urls: replicas.map(({ url }) => url),
    apiKey: undefined,
    model: "m",
    timeoutMs: 10_000,
    retries: 2,
    nowMs: () => clock.nowMs,
    onReplicaChange: (url, state, reason) => {
      if (state === "ejected") lost.push({ url, reason });
    },
  });
  /** The status of the call. */
  async function ask(session: string, content = "Hello"): Promise<number> {
    const options = { session: { name: "x-session-id", value: session } };
    const call = upstream.complete({ messages: [{ role: "user", content }] }, noSignal, options);
    return await call.then(
      () => 200,
      (error) => error.status ?? 0,
    );
  }
  async function askAll(content?: string): Promise<number[]> {
    const statuses: number[] = [];
    for (const session of sessions) statuses.push(await ask(session, content));
    return statuses;
  }
  return {
    replicas: replicas as [TestUpstream, TestUpstream, ...TestUpstream[]],
    clock,
    lost,
    ask,
    askAll,
    asked: () => replicas.reduce((sum, { received }) => sum + received.length, 0),
    of: (replica: TestUpstream) => upstream.replicas.all.find(({ url }) => url === replica.url),
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map((replica) => replica.stop()));
    },
  };
}

const failed = (status: number) => () => new Response("CUDA error", { status });
const html = () => new Response("<html>", { headers: { "content-type": "text/html" } });
const carried = () => Response.json({ error: { message: "CUDA error", code: 500 } });
const all200 = sessions.map(() => 200);

test.each([
  ["500", failed(500), { reason: "status", status: 500 }],
  ["502", failed(502), { reason: "status", status: 502 }],
  ["504", failed(504), { reason: "status", status: 504 }],
  ["a page of HTML", html, { reason: "not_a_completion", status: 200 }],
  ["an error with status 200", carried, { reason: "not_a_completion", status: 200 }],
] as const)("a replica that answers %s is ejected, and no call fails", async (_, answer: Answer, reason) => {
  await using fleet = await startFleet(2);
  const { replicas, lost } = fleet;
  replicas[0].answer = answer;
  expect(await fleet.askAll()).toEqual(all200);
  expect(replicas[0].received).toHaveLength(3);
  expect(lost).toEqual([{ url: replicas[0].url, reason }]);
});

test("a request that every replica fails is asked of two at most, and ejects none", async () => {
  await using fleet = await startFleet(4);
  for (const replica of fleet.replicas) {
    replica.answer = ({ text }) =>
      text.includes("poison") ? failed(500)() : Response.json(completion("well"));
  }
  expect(await fleet.ask("any", "poison")).toBe(500);
  expect(fleet.asked()).toBe(2);
  for (let round = 0; round < 3; round += 1) {
    expect(new Set(await fleet.askAll("poison"))).toEqual(new Set([500]));
    expect(await fleet.askAll()).toEqual(all200);
  }
  expect(fleet.lost).toEqual([]);
});

test("where all replicas fail, none is ejected, and their calls are hardly more", async () => {
  await using fleet = await startFleet(2);
  for (const replica of fleet.replicas) replica.answer = failed(500);
  for (let round = 0; round < 4; round += 1) await fleet.askAll();
  expect(fleet.lost).toEqual([]);
  expect(fleet.asked()).toBeLessThanOrEqual(4 * sessions.length + 30);
});

test("while it is not known whether requests or their replica fail, the others are asked", async () => {
  await using fleet = await startFleet(2);
  const [bad, good] = fleet.replicas;
  bad.answer = failed(500);
  const release = Promise.withResolvers<void>();
  good.answer = async () => {
    await release.promise;
    return Response.json(completion("late"));
  };
  const calls: Promise<number>[] = [];
  for (const session of sessions) {
    calls.push(fleet.ask(session));
    await expectEventually(() => good.received.length, calls.length);
  }
  expect(bad.received).toHaveLength(3);
  release.resolve();
  expect(await Promise.all(calls)).toEqual(all200);
  expect(fleet.lost.map(({ url }) => url)).toEqual([bad.url]);
});

test("a replica that limits the rate rests for its Retry-After, and its calls go to another one", async () => {
  await using fleet = await startFleet(2);
  const [limited] = fleet.replicas;
  limited.answer = () => new Response("slow down", { status: 429, headers: { "retry-after": "2" } });
  expect(await fleet.askAll()).toEqual(all200);
  expect(limited.received).toHaveLength(1);
  fleet.clock.nowMs = 1_999;
  await fleet.askAll();
  expect(limited.received).toHaveLength(1);
  fleet.clock.nowMs = 2_000;
  expect(await fleet.askAll()).toEqual(all200);
  expect(limited.received).toHaveLength(2);
  expect(fleet.lost).toEqual([]);
});

test("a replica that is unavailable for long costs no call while another one is free", async () => {
  await using fleet = await startFleet(2);
  const [gone] = fleet.replicas;
  gone.answer = () => new Response("loading", { status: 503, headers: { "retry-after": "30" } });
  expect(await fleet.askAll()).toEqual(all200);
  expect(gone.received).toHaveLength(3);
});

test("it rests for a minute at most, and where all limit the rate the client gets a 429", async () => {
  await using fleet = await startFleet(2);
  for (const replica of fleet.replicas)
    replica.answer = () => new Response("slow down", { status: 429, headers: { "retry-after": "3600" } });
  expect(new Set(await fleet.askAll())).toEqual(new Set([429]));
  expect(fleet.replicas.map((replica) => fleet.of(replica)?.limit)).toEqual([0, 0]);
  fleet.clock.nowMs = 60_000;
  expect(fleet.replicas.map((replica) => fleet.of(replica)?.limit)).toEqual([1, 1]);
});
