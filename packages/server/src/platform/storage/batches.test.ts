import { expect, test } from "bun:test";
import { Kysely, PostgresAdapter, PostgresDialect, SqliteAdapter } from "kysely";
import { deleteInBatches, doTogether, writeInBatches } from "./batches.ts";
import type { Database } from "./schema/tables.ts";

class Dialect extends PostgresDialect {
  readonly #adapter: PostgresAdapter | SqliteAdapter;
  constructor(adapter: PostgresAdapter | SqliteAdapter) {
    super({ pool: async () => await Promise.reject(new Error("There is no database.")) });
    this.#adapter = adapter;
  }
  override createAdapter() {
    return this.#adapter;
  }
}

/** The limits of the first transactions, if each holds the lock for this long. */
async function sizesOf(adapter: PostgresAdapter | SqliteAdapter, heldMs: number): Promise<number[]> {
  const sizes: number[] = [];
  await deleteInBatches<number>(
    new Kysely({ dialect: new Dialect(adapter) }) as unknown as Database,
    async (_, limit) => {
      sizes.push(limit);
      return { deleted: limit, heldMs, next: sizes.length === 6 ? undefined : 1 };
    },
    { signal: new AbortController().signal },
  );
  return sizes;
}

test("on PostgreSQL slow round trips do not make transactions small, which would be no faster", async () => {
  expect(await sizesOf(new PostgresAdapter(), 26)).toEqual([20, 30, 40, 40, 40, 40]);
});

test("on SQLite, where nobody else writes meanwhile, slow ones become small", async () => {
  expect(await sizesOf(new SqliteAdapter(), 21)).toEqual([20, 10, 5, 2, 1, 1]);
});

test("what is added during a write shares the next one, and each call gets its own result", async () => {
  const batches: number[][] = [];
  const first = Promise.withResolvers<void>();
  const add = doTogether<number, string>(async (items) => {
    batches.push([...items]);
    if (batches.length === 1) await first.promise;
    return items.map((item) => `stored ${item}`);
  });
  const one = add(1);
  await Bun.sleep(0);
  const others = [add(2), add(3)];
  first.resolve();
  expect(await Promise.all([one, ...others])).toEqual(["stored 1", "stored 2", "stored 3"]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a write that fails rejects its own calls only", async () => {
  const add = doTogether<number, number>(async (items) => {
    if (items.includes(1)) throw new Error("full");
    return items;
  });
  expect(add(1)).rejects.toThrow("full");
  await Bun.sleep(0);
  expect(await add(2)).toBe(2);
});

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
