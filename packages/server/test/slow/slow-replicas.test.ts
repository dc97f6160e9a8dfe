import { expect, test } from "bun:test";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import { oneAtATime } from "../support/upstream/one-at-a-time.ts";
import { type Answer, completion, startUpstream } from "../support/upstream/upstream.ts";

const noSignal = new AbortController().signal;
const answerAfter =
  (ms: number): Answer =>
  async () => {
    await Bun.sleep(ms);
    return Response.json(completion("next"));
  };
const hang: Answer = async (_, { signal }) => {
  while (!signal.aborted) await Bun.sleep(10);
  return new Response();
};

/** Two replicas, and the sessions that prefer the first. */
async function startPair(timeoutMs: number) {
  const servers = [startUpstream(), startUpstream()] as const;
  const upstream = createUpstream({
    name: "default",
    urls: servers.map(({ url }) => url),
    apiKey: undefined,
    model: "m",
    timeoutMs,
    retries: 2,
  });
  const messages = [{ role: "user", content: "Hello" }];
  const ask = (session: string, signal = noSignal) =>
    upstream.complete({ messages }, signal, { session: { name: "x-session-id", value: session } });
  const ofFirst: string[] = [];
  const counts = () => servers.map(({ received }) => received.length);
  for (const server of servers) server.answer = answerAfter(50);
  for (let place = 0; ofFirst.length < 12; place += 1) {
    const before = servers[0].received.length;
    await ask(`rollout-${place}`);
    if (servers[0].received.length > before) ofFirst.push(`rollout-${place}`);
  }
  for (const { received } of servers) received.length = 0;
  return {
    ask,
    ofFirst,
    counts,
    first: servers[0],
    slowness: () => upstream.replicas.all.map(({ slowness }) => slowness),
    percentiles: () => upstream.replicas.all[0]?.latency.percentiles(),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A client that disconnects after this time. */
async function leaveAfter(ms: number, ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const client = new AbortController();
  const asked = ask(client.signal).catch(() => {});
  await Bun.sleep(ms);
  client.abort();
  await asked;
}

test("a replica whose calls time out is slow, however fast it answers the others", async () => {
  await using pair = await startPair(2_000);
  const { first, ofFirst, ask, slowness, percentiles } = pair;
  let call = 0;
  first.answer = (received, request) => {
    call += 1;
    return call % 2 === 0 ? hang(received, request) : Response.json(completion("next"));
  };
  for (const session of ofFirst.slice(0, 8)) await ask(session).catch(() => {});
  const [ofSlow = 0, ofFast] = slowness();
  expect(ofSlow).toBeGreaterThan(1);
  expect(ofFast).toBe(1);
  // The latency shown is that of responses.
  expect(percentiles()?.p99).toBeLessThan(2_000);
});

test("a session whose call timed out asks another replica next, and comes back from there", async () => {
  await using pair = await startPair(500);
  const { first, ofFirst, ask, counts } = pair;
  const [session = ""] = ofFirst;
  first.answer = hang;
  await expect(ask(session)).rejects.toMatchObject({ category: "timeout" });
  expect(counts()).toEqual([1, 0]);
  await ask(session);
  expect(counts()).toEqual([1, 1]);
  first.answer = answerAfter(50);
  await ask(session);
  expect(counts()).toEqual([2, 1]);
});

test("a client that leaves late says that a replica is slow, one that leaves soon says nothing", async () => {
  await using pair = await startPair(60_000);
  const { first, ofFirst, ask, slowness } = pair;
  first.answer = hang;
  for (const session of ofFirst.slice(0, 6)) await leaveAfter(1, (signal) => ask(session, signal));
  const [soon = 0] = slowness();
  for (const session of ofFirst.slice(0, 6)) await leaveAfter(1_000, (signal) => ask(session, signal));
  const [late = 0] = slowness();
  expect(late).toBeGreaterThan(soon);
});

test("of two replicas, the one that answers slowly and one call at a time gets the fewer calls", async () => {
  await using pair = await startPair(3_000);
  const { first, ask, counts } = pair;
  first.answer = oneAtATime(1_000);
  const work = async (worker: number) => {
    for (let step = 0; step < 12; step += 1)
      await ask(`trajectory-${worker}-${step >> 2}`).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
  const [ofSlow = 0, ofFast = 0] = counts();
  expect(ofSlow).toBeGreaterThan(0);
  expect(ofFast).toBeGreaterThan(2 * ofSlow);
});
