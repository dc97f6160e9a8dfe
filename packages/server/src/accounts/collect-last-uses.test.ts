import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { Micros } from "../platform/storage/columns.ts";
import { collectLastUses } from "./verify-api-key.ts";

type Batch = ReadonlyMap<string, Micros>;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** Collects written batches in a list. During an outage, writes fail when its promise is settled. */
function collected() {
  const batches: Batch[] = [];
  const failures: unknown[] = [];
  const store = { outage: undefined as Promise<void> | undefined };
  const lastUses = collectLastUses({
    async write(batch) {
      if (store.outage !== undefined) {
        await store.outage;
        throw new Error("the database is down");
      }
      batches.push(batch);
    },
    onFailure: (error) => failures.push(error),
  });
  return { lastUses, batches, failures, store };
}

test("many uses of many keys become one write every five seconds with each key's last use", async () => {
  const { lastUses, batches } = collected();
  for (let use = 0; use < 1_000; use++) lastUses.record(`key-${use % 10}`, false);
  jest.advanceTimersByTime(4_900);
  await settle();
  expect(batches).toHaveLength(0);
  jest.advanceTimersByTime(200);
  await settle();
  expect(batches.map(({ size }) => size)).toEqual([10]);
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(batches).toHaveLength(1);
});

test("a failed write is retried, and keeps newer uses", async () => {
  const { lastUses, batches, failures, store } = collected();
  const { promise, resolve } = Promise.withResolvers<void>();
  store.outage = promise;
  lastUses.record("used twice", false);
  lastUses.record("used once", false);
  jest.advanceTimersByTime(5_000);
  await settle();
  jest.advanceTimersByTime(1_000);
  lastUses.record("used twice", false);
  resolve();
  await settle();
  expect([batches.length, failures.length]).toEqual([0, 1]);
  store.outage = undefined;
  jest.advanceTimersByTime(4_000);
  await settle();
  expect(batches).toHaveLength(1);
  const [twice = 0, once = 0] = ["used twice", "used once"].map((keyId) => batches[0]?.get(keyId));
  expect(twice - once).toBeGreaterThan(5_999_000);
});

test("stop writes what is pending", async () => {
  const { lastUses, batches } = collected();
  lastUses.record("key", false);
  await lastUses.stop();
  expect(batches.map((batch) => [...batch.keys()])).toEqual([["key"]]);
});
