import { expect, test } from "bun:test";
import { writeInBatches } from "./batches.ts";

test("only the first of several failures in a row is marked as first, and nothing is lost", async () => {
  let isBroken = true;
  const written: [string, number][][] = [];
  const failures: boolean[] = [];
  const { pending, writeNow, stop } = writeInBatches<number>({
    async write(batch) {
      if (isBroken) throw new Error("the database is down");
      written.push([...batch]);
    },
    putBack(batch, since) {
      for (const [name, value] of batch) since.set(name, value);
    },
    onFailure: (_error, isFirst) => failures.push(isFirst),
  });

  pending().set("one", 1);
  for (let turn = 0; turn < 3; turn++) await writeNow();
  isBroken = false;
  await writeNow();
  isBroken = true;
  pending().set("two", 2);
  await writeNow();
  isBroken = false;
  await stop();
  expect(failures).toEqual([true, false, false, true]);
  expect(written).toEqual([[["one", 1]], [["two", 2]]]);
});

test("while a write hangs, one attempt waits for it, however many are due", async () => {
  const hanging = Promise.withResolvers<void>();
  let attempts = 0;
  const { pending, writeNow, stop } = writeInBatches<number>({
    async write() {
      attempts += 1;
      await hanging.promise;
      throw new Error("the database is down");
    },
    onFailure() {},
  });
  pending().set("one", 1);
  for (let due = 0; due < 100; due++) void writeNow();
  await Promise.resolve();
  const stopped = stop();
  hanging.resolve();
  await stopped;
  expect(attempts).toBe(2);
});
