import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { sqliteDialect } from "./sqlite-dialect.ts";
import { isStoreUnavailable } from "./store-failure.ts";

let directory: string;
let database: Kysely<{ notes: { body: string } }>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  database = new Kysely({ dialect: sqliteDialect(join(directory, "notes.db")) });
  await sql`create table notes (body text)`.execute(database);
});

afterAll(async () => {
  await database.destroy();
  await rm(directory, { recursive: true, force: true });
});

test("a transaction that finds the disk full says so, and leaves nothing behind", async () => {
  // A file of 20 pages is as good as a full disk: SQLite takes the transaction back itself.
  await sql`pragma max_page_count = 20`.execute(database);
  const outcome = await database
    .transaction()
    .execute(async (transaction) => {
      await transaction.insertInto("notes").values({ body: "small" }).execute();
      await transaction
        .insertInto("notes")
        .values({ body: "x".repeat(1_000_000) })
        .execute();
    })
    .catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "SQLITE_FULL" });
  expect(isStoreUnavailable(outcome)).toBe(true);
  await database.insertInto("notes").values({ body: "next" }).execute();
  expect(await database.selectFrom("notes").selectAll().execute()).toEqual([{ body: "next" }]);
});

test("a transaction that its own code gives up is taken back", async () => {
  const givenUp = database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom("notes").execute();
    throw new Error("changed my mind");
  });
  await expect(givenUp).rejects.toThrow("changed my mind");
  expect(await database.selectFrom("notes").selectAll().execute()).toEqual([{ body: "next" }]);
});
