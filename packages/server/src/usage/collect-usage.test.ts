import { afterEach, beforeEach, expect, jest, setSystemTime, test } from "bun:test";
import type { Use } from "../http/exchange.ts";
import { bucketOf, collectUsage, createCountedModels, middleOf, type UsageTotals } from "./collect-usage.ts";

const noon = new Date("2026-03-01T12:00:00Z");
const use: Use = {
  accountId: "account",
  keyId: "key",
  operation: "predict",
  failure: undefined,
  promptTokens: 10,
  completionTokens: 3,
  totalMs: 120,
  upstreamMs: 100,
};

beforeEach(() => {
  jest.useFakeTimers();
  setSystemTime(noon);
});
afterEach(() => {
  jest.useRealTimers();
  setSystemTime();
});

/** Collects written batches in a list. During an outage, writes fail when its promise is settled. */
function collected() {
  const batches: UsageTotals[][] = [];
  const failures: unknown[] = [];
  const store = { outage: undefined as Promise<void> | undefined };
  const usage = collectUsage(
    async (batch) => {
      if (store.outage !== undefined) {
        await store.outage;
        throw new Error("the database is down");
      }
      batches.push(structuredClone([...batch.values()]));
    },
    (error) => failures.push(error),
  );
  return { usage, batches, failures, store };
}

async function passSeconds(seconds: number): Promise<void> {
  jest.advanceTimersByTime(seconds * 1_000);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("many requests of one kind become one row every five seconds", async () => {
  const { usage, batches } = collected();
  for (let request = 0; request < 1_000; request++) usage.record(use);
  await passSeconds(4.9);
  expect(batches).toHaveLength(0);
  await passSeconds(0.2);
  expect(batches).toMatchObject([[{ requests: 1_000, promptTokens: 10_000, completionTokens: 3_000 }]]);
  await passSeconds(60);
  expect(batches).toHaveLength(1);
});

test("key, operation, failure, model, account and hour are counted separately", async () => {
  const { usage, batches } = collected();
  const kinds: Partial<Use>[] = [
    {},
    { keyId: undefined },
    { operation: "chat" },
    { failure: "timeout" },
    { model: "org/small" },
    { accountId: "other" },
  ];
  for (const kind of kinds) usage.record({ ...use, ...kind });
  setSystemTime(new Date("2026-03-01T13:00:00Z"));
  usage.record(use);
  await usage.stop();
  const [batch = []] = batches;
  expect(batch.map(({ requests }) => requests)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(batch.slice(0, -1)).toMatchObject(kinds);
  expect((batch.at(-1)?.hour ?? 0) - (batch[0]?.hour ?? 0)).toBe(1);
});

test("a failed write is retried with what was added since", async () => {
  const { usage, batches, failures, store } = collected();
  const { promise, resolve } = Promise.withResolvers<void>();
  store.outage = promise;
  usage.record(use);
  usage.record({ ...use, failure: "upstream" });
  await passSeconds(5);
  usage.record({ ...use, totalMs: 240 });
  resolve();
  await passSeconds(0);
  expect([batches.length, failures.length]).toEqual([0, 1]);
  store.outage = undefined;
  await passSeconds(5);
  expect(batches).toHaveLength(1);
  const success = batches[0]?.find(({ failure }) => failure === undefined);
  expect(success).toMatchObject({ requests: 2, promptTokens: 20, completionTokens: 6 });
  expect([...(success?.totalLatencies.values() ?? [])]).toEqual([1, 1]);
  expect(batches[0]?.find(({ failure }) => failure === "upstream")).toMatchObject({ requests: 1 });
});

test("memory is limited in an outage: beyond the limit only pending totals grow", async () => {
  const { usage, batches, store } = collected();
  store.outage = Promise.resolve();
  for (let round = 0; round < 3; round++) {
    for (let key = 0; key < 9_000; key++) usage.record({ ...use, keyId: `${round} ${key}` });
    await passSeconds(5);
  }
  usage.record({ ...use, keyId: "0 0" });
  store.outage = undefined;
  await passSeconds(5);
  expect(batches[0]).toHaveLength(10_000);
  expect(batches[0]?.find(({ keyId }) => keyId === "0 0")).toMatchObject({ requests: 2 });
});

test("latencies are counted for requests with an upstream call, with and without its time", async () => {
  const { usage, batches } = collected();
  usage.record(use);
  usage.record({ ...use, upstreamMs: undefined });
  await usage.stop();
  const { requests, totalLatencies, overheadLatencies } = batches[0]?.[0] ?? {};
  expect(requests).toBe(2);
  for (const [counts, latencyMs] of [
    [totalLatencies, 120],
    [overheadLatencies, 20],
  ] as const) {
    const [[bucket = 0, count] = []] = counts ?? [];
    expect(count).toBe(1);
    expect(middleOf(bucket) / latencyMs).toBeCloseTo(1, 1);
  }
});

test("what the upstream was not asked for belongs to no model", async () => {
  const { usage, batches } = collected();
  usage.record({ ...use, model: "org/small", wasAsked: false });
  await usage.stop();
  expect(batches).toMatchObject([[{ model: undefined, cachedTokens: 13, promptTokens: 0 }]]);
});

test("reported token counts are limited to what the database can add up", async () => {
  const { usage, batches } = collected();
  usage.record({ ...use, promptTokens: 1e300, completionTokens: -5 });
  await usage.stop();
  expect(batches).toMatchObject([[{ promptTokens: 1e9, completionTokens: 0 }]]);
});

test("a count that is no number is none", async () => {
  const { usage, batches } = collected();
  usage.record({ ...use, exampleTokens: Number.NaN });
  await usage.stop();
  expect(batches).toMatchObject([[{ promptTokens: 10, exampleTokens: 0 }]]);
});

test("a row that the database refuses keeps no other one back", async () => {
  const written: unknown[] = [];
  const failures: unknown[] = [];
  const refusal = Object.assign(new Error("refused"), { code: "SQLITE_CONSTRAINT_NOTNULL" });
  const usage = collectUsage(
    async (batch) => {
      if (batch.values().some(({ accountId }) => accountId === "bad")) throw refusal;
      written.push(...batch.values().map(({ accountId, requests }) => [accountId, requests]));
    },
    (error) => failures.push(error),
  );
  for (const accountId of ["one", "bad", "other"]) usage.record({ ...use, accountId });
  await usage.writeNow();
  usage.record(use);
  await usage.stop();
  expect(written).toEqual([
    ["one", 1],
    ["other", 1],
    ["account", 1],
  ]);
  expect(failures).toEqual([refusal]);
});

const names = (count: number) => Array.from({ length: count }, (_, number) => `name ${number}`);

test("an account has 100 names an hour besides those with a price", () => {
  const counted = createCountedModels((model) => model === "priced");
  for (const name of names(100)) expect(counted("a", 1, name)).toBe(name);
  expect(counted("a", 1, "one more")).toBeUndefined();
  expect(counted("a", 1, "name 7")).toBe("name 7");
  expect(counted("a", 1, "priced")).toBe("priced");
  expect(counted("b", 1, "one more")).toBe("one more");
  expect(counted("a", 2, "one more")).toBe("one more");
});

test("names that are long, or that no database stores, are not counted", () => {
  const counted = createCountedModels(() => false);
  for (const name of ["", "x".repeat(201), "a\0", "a\nb", "\ud800", "\u202e"])
    expect(counted("a", 1, name)).toBeUndefined();
  for (const name of ["x".repeat(200), "Qwen/Qwen3-8B wm", "模型"]) expect(counted("a", 1, name)).toBe(name);
  expect(counted("a", 1, undefined)).toBeUndefined();
});

test("from 10 µs to a day, a bucket's middle is at most 3 % away from its latencies", () => {
  for (let latencyMs = 0.01; latencyMs < 24 * 60 * 60_000; latencyMs *= 1.003) {
    const ratio = middleOf(bucketOf(latencyMs)) / latencyMs;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.03);
  }
});

test("a longer latency never falls into an earlier bucket", () => {
  let last = 0;
  for (let latencyMs = 0.01; latencyMs < 1e6; latencyMs *= 1.01) {
    expect(bucketOf(latencyMs)).toBeGreaterThanOrEqual(last);
    last = bucketOf(latencyMs);
  }
});

test("latencies beyond all buckets fall into the first or the last", () => {
  for (const latencyMs of [0, -1, 0.001]) expect(bucketOf(latencyMs)).toBe(0);
  expect(bucketOf(Number.POSITIVE_INFINITY)).toBe(bucketOf(24 * 60 * 60_000));
  expect(bucketOf(Number.POSITIVE_INFINITY)).toBeLessThan(500);
});
