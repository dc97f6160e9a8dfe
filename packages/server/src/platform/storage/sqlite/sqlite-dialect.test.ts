import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { isStoreUnavailable } from "../store-error.ts";
import { sqliteDialect } from "./sqlite-driver.ts";
import { openSqlite } from "./sqlite-file.ts";

/** A program that writes until its file may not grow any more, which looks like a failing disk to SQLite. */
const writeUntilBroken = `
  import { Kysely } from "kysely";
  import { sqliteDialect } from ${JSON.stringify(join(import.meta.dir, "sqlite-driver.ts"))};
  import { openSqlite } from ${JSON.stringify(join(import.meta.dir, "sqlite-file.ts"))};
  import { isStoreUncertain, isStoreUnavailable } from ${JSON.stringify(join(import.meta.dir, "../store-error.ts"))};
  const database = new Kysely({ dialect: sqliteDialect(openSqlite(process.argv.at(-1))) });
  await database.schema.createTable("notes").addColumn("body", "text").execute();
  const write = (on) => on.insertInto("notes").values({ body: "x".repeat(10_000) }).execute();
  const failureOf = async (work) => {
    for (;;) try { await work(); } catch (error) { return error; }
  };
  for (const failure of [
    await failureOf(() => database.transaction().execute(write)),
    await failureOf(() => write(database)),
    await failureOf(() => database.transaction().execute(async (transaction) => {
      await write(transaction);
      throw new Error("changed my mind");
    })),
  ]) console.log(failure.cause?.code ?? failure.message, isStoreUnavailable(failure), isStoreUncertain(failure));
`;

let directory: string;
let database: Kysely<{ notes: { body: string } }>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  database = new Kysely({ dialect: sqliteDialect(openSqlite(join(directory, "notes.db"))) });
  await sql`create table notes (body text)`.execute(database);
});

afterAll(async () => {
  await database.destroy();
  await rm(directory, { recursive: true, force: true });
});

test("a transaction on a full disk fails with that reason, and is rolled back", async () => {
  // The same as a full disk: SQLite rolls back by itself.
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

test("a transaction whose code throws is rolled back", async () => {
  const givenUp = database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom("notes").execute();
    throw new Error("changed my mind");
  });
  await expect(givenUp).rejects.toThrow("changed my mind");
  expect(await database.selectFrom("notes").selectAll().execute()).toEqual([{ body: "next" }]);
});

test("a commit is uncertain when the disk fails, also that of a single statement", async () => {
  const child = Bun.spawn({
    cmd: [
      "sh",
      "-c",
      'trap "" XFSZ; ulimit -f 400; exec "$@"',
      "sh",
      process.execPath,
      "--eval",
      writeUntilBroken,
      join(directory, "broken.db"),
    ],
    stdout: "pipe",
    stderr: "inherit",
    timeout: 30_000,
  });
  expect((await child.stdout.text()).trim().split("\n")).toEqual([
    "SQLITE_IOERR_WRITE true true",
    "SQLITE_IOERR_WRITE true true",
    "changed my mind false false",
  ]);
});
