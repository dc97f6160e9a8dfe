import { expect, test } from "bun:test";
import { openExchange, recordWork, type Use } from "../http/exchange.ts";
import { ServiceError, UpstreamError } from "../platform/errors.ts";
import { createByteBudget } from "../platform/limits/memory.ts";
import type { Complete, CompletionBody } from "../upstream/upstream.ts";
import { completeThroughWorld, type WorldServices } from "../worlds/complete-through-world.ts";
import type { ReadyWorld } from "../worlds/world.ts";
import { measureCompletion } from "./predict.ts";
import { askWorld, findNamedWorld, type PredictionWorlds } from "./through-world.ts";

/** Answers as model `name`, to a prompt of this many tokens, one of which the upstream had cached. */
function answering(name: string, promptTokens: number): Complete {
  const usage = {
    ...{ prompt_tokens: promptTokens, completion_tokens: 2, total_tokens: promptTokens + 2 },
    prompt_tokens_details: { cached_tokens: 1 },
  };
  const body: CompletionBody = { choices: [{ message: { role: "assistant", content: "Done." } }], usage };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return async () => ({ bytes, body, deployment: name, model: name });
}

function openedExchange() {
  const memory = createByteBudget(1e9);
  const tracing = { startRequest: () => undefined };
  return openExchange({ tracing, memory, longWork: {} as never }, { method: "POST", headers: new Headers() });
}

/** The calls that are counted for a prediction through a world of this confidence, and its answer or error. */
async function countCalls(
  confidence: object,
  deployments: Record<string, Complete>,
  timeouts: Record<string, { timeoutMs: number }> = {},
) {
  const uses: Use[] = [];
  const exchange = openedExchange();
  exchange.countsFor = { accountId: "a", keyId: "k", operation: "predict" };
  const world = { name: "w", revision: 1, config: { confidence }, pinned: { calibration: null } };
  const services = {
    exampleTexts: {},
    findDeployment(name = "first") {
      const complete = deployments[name];
      return complete && { complete, timeoutMs: 1_200, ...timeouts[name] };
    },
  };
  const asked = { interaction: { state: "", action: "go" } };
  const through = completeThroughWorld(
    services as unknown as WorldServices,
    world as unknown as ReadyWorld,
    asked,
  );
  const outcome = await through({ messages: [] }, new AbortController().signal, (complete) =>
    measureCompletion(complete, exchange, {}),
  ).catch((error: unknown) => error);
  const count = () => {};
  const metrics = { upstreamSeconds: { observe: count }, overheadSeconds: { observe: count } };
  const ofRequest = { cacheResults: count, tokens: count, failures: count };
  const log = { request: count };
  recordWork(
    { log, metrics: { ...metrics, ...ofRequest }, recordUsage: (use: Use) => uses.push(use) } as never,
    exchange,
    { method: "POST", route: "/v1/predict", status: 200, totalMs: 1 },
  );
  const counted = uses.map(({ model, promptTokens, upstreamCachedTokens, isFurtherCall = false }) => [
    ...[model, promptTokens, upstreamCachedTokens, isFurtherCall],
  ]);
  return { counted, outcome };
}

test("each call that a prediction takes is counted as its own model's", async () => {
  const confidence = { methods: ["stated"], min_confidence: 0.5, below: "escalate", escalate_to: "dear" };
  const { counted } = await countCalls(confidence, {
    first: answering("first", 10),
    dear: answering("dear", 7),
  });
  expect(counted).toEqual([
    ["dear", 7, 1, false],
    ["first", 10, 1, true],
    ["first", 10, 1, true],
  ]);
});

test("an escalation that fails in any way leaves the answer that is there", async () => {
  const confidence = { methods: ["logprob"], min_confidence: 0.5, below: "escalate", escalate_to: "dear" };
  const { outcome } = await countCalls(confidence, {
    first: answering("first", 10),
    dear: () => Promise.reject(new UpstreamError("rate_limit", "Too many.", { status: 429 })),
  });
  expect(outcome).toMatchObject({ abstained: true, deployment: "first" });
});

test("one of several samples that fails ends the others, and those that came are counted", async () => {
  let asked = 0;
  let aborted = 0;
  const first: Complete = async (request, signal) => {
    asked += 1;
    if (asked === 1) return await answering("first", 10)(request, signal);
    if (asked === 2) {
      await Bun.sleep(1);
      throw new UpstreamError("rate_limit", "Too many.", { status: 429 });
    }
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => {
      aborted += 1;
      reject(signal.reason);
    });
    return await promise;
  };
  const { counted, outcome } = await countCalls({ methods: ["agreement"], samples: 5 }, { first });
  expect(outcome).toBeInstanceOf(UpstreamError);
  expect([asked, aborted]).toEqual([5, 3]);
  expect(counted).toEqual([["first", 10, 1, false]]);
});

test("what is asked beside an answer has what is left of its time", async () => {
  const first: Complete = async (request, signal) => {
    const isAnswer = request.messages.length < 3;
    await Bun.sleep(isAnswer ? 1_010 : 60_000);
    return await answering("first", 10)(request, signal);
  };
  const { outcome } = await countCalls({ methods: ["stated"] }, { first });
  expect(outcome).toMatchObject({ deployment: "first", explain: { score: null } });
});

test("an escalation has what is left of the longer time, and is not sent once that is over", async () => {
  const methods = { methods: ["logprob"], min_confidence: 0.5, below: "escalate", escalate_to: "dear" };
  let asked = 0;
  const slow: Complete = async (request, signal) => {
    await Bun.sleep(1_050);
    return await answering("first", 10)(request, signal);
  };
  const dear: Complete = (request, signal) => {
    asked += 1;
    return answering("dear", 7)(request, signal);
  };
  const escalate = async (firstMs: number) =>
    (
      await countCalls(
        methods,
        { first: slow, dear },
        { first: { timeoutMs: firstMs }, dear: { timeoutMs: 1_000 } },
      )
    ).outcome;
  expect(await escalate(5_000)).toMatchObject({ isEscalated: true, deployment: "dear" });
  expect(await escalate(1_000)).toMatchObject({ abstained: true, deployment: "first" });
  expect(asked).toBe(1);
});

/** What the response's headers say about a world's answer, and how much memory it holds. */
async function askedWorld(config: object, first: Complete) {
  const exchange = openedExchange();
  const request = new Request("http://presage/v1/predict", { method: "POST" });
  const caller = { accountId: "a", proof: { kind: "key", keyId: "k" } };
  const world = { name: "w", revision: 1, config, pinned: { calibration: null } } as unknown as ReadyWorld;
  const deployments = { getDefault: () => ({ upstream: { complete: first }, timeoutMs: 1_200 }) };
  const services = { deployments, capture: { watch: (complete: unknown) => complete } };
  const completion = await askWorld(
    services as unknown as PredictionWorlds,
    { request, exchange, caller } as never,
    {
      world,
      asked: { interaction: { state: "Here.", action: "go" } },
      body: {},
      params: {},
      session: undefined,
      sharing: undefined,
    },
  );
  const { cache, ageS, deployment, reservedBytes, wasAsked } = exchange;
  return { completion, said: { cache, ageS, deployment }, reservedBytes, wasAsked };
}

test("headers speak of the answer, whatever was asked after it; its memory is held", async () => {
  const ofRecords = await askedWorld({ model: { kind: "retrieval" } }, answering("first", 10));
  expect(ofRecords.said).toEqual({ cache: "off", ageS: undefined, deployment: "retrieval" });
  const cached: Complete = async (request, signal) => {
    const completion = await answering("first", 10)(request, signal);
    // The number that is stated after it is short.
    if (request.messages.length > 2) return completion;
    const bytes = new TextEncoder().encode(JSON.stringify({ ...completion.body, more: "a".repeat(5_000) }));
    return { ...completion, bytes, cache: { result: "hit", ageS: 7.5 } };
  };
  const stated = await askedWorld({ confidence: { methods: ["stated"] } }, cached);
  expect(stated.said).toEqual({ cache: "hit", ageS: 7, deployment: "first" });
  expect([stated.reservedBytes, stated.wasAsked]).toEqual([2 * stated.completion.bytes.length, true]);
});

test("an escalation's answer has nothing of the first one", async () => {
  const confidence = { methods: ["logprob"], min_confidence: 0.5, below: "escalate", escalate_to: "dear" };
  const first: Complete = async (request, signal) => ({
    ...(await answering("first", 10)(request, signal)),
    cache: { result: "hit", ageS: 7 },
  });
  const { outcome } = await countCalls(confidence, { first, dear: answering("dear", 7) });
  expect(outcome).toMatchObject({ isEscalated: true, deployment: "dear", model: "dear" });
  expect(outcome).not.toHaveProperty("cache");
});

test("a model's name that may be a world's is not asked for as it is while worlds cannot be read", async () => {
  const overloaded = new ServiceError("overloaded", "Too many reads are waiting.");
  const services = {
    deployments: { find: () => undefined },
    knownWorlds: { find: () => Promise.reject(overloaded) },
  };
  const caller = { accountId: "a", proof: { kind: "key", keyId: "k" } };
  const call = { request: new Request("http://presage/"), caller, exchange: openedExchange() };
  const finding = findNamedWorld(services as never, call as never, { model: "shop" });
  expect(finding).rejects.toBe(overloaded);
});
