import { expect, test } from "bun:test";
import { Kysely, PostgresAdapter, PostgresDialect, SqliteAdapter } from "kysely";
import { deleteInBatches } from "./batches.ts";
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
