import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval, setTimeout } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Kysely, sql } from "kysely";
import { sqliteThreadDialect } from "./sqlite-thread-dialect.ts";
import { startSqliteWorker } from "./start-sqlite-worker.ts";
import { isStoreUnavailable } from "./store-failure.ts";

interface Notes {
  notes: { id: number; body: unknown };
}

/** Counts to ten million, which takes about a second. */
const slowStatement = sql<{ last: number }>`
  with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 10000000)
  select max(n) as last from counter
`;

/** A program that counts likewise, and lets go of nothing at its end. */
const askWithoutDestroy = `
  import { Kysely, sql } from "kysely";
  import { sqliteThreadDialect } from ${JSON.stringify(join(import.meta.dir, "sqlite-thread-dialect.ts"))};
  import { startSqliteWorker } from ${JSON.stringify(join(import.meta.dir, "start-sqlite-worker.ts"))};
  const path = process.argv.at(-1);
  const dialect = sqliteThreadDialect(() => startSqliteWorker({ path, access: "read" }));
  const database = new Kysely({ dialect });
  const counting = sql\`
    with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 10000000)
    select max(n) as last from counter
  \`;
  counting
    .execute(database)
    .then(() => counting.execute(database))
    .then(({ rows }) => process.stdout.write(String(rows[0].last)));
`;

let directory: string;
let path: string;
let workers: Worker[];
let opened: Kysely<Notes>[];
let writer: Kysely<Notes>;
let reader: Kysely<Notes>;

function open(access: "read" | "write"): Kysely<Notes> {
  const database = new Kysely<Notes>({
    dialect: sqliteThreadDialect(() => {
      const worker = startSqliteWorker({ path, access });
      workers.push(worker);
      return worker;
    }),
  });
  opened.push(database);
  return database;
}

async function bodies(database: Kysely<Notes>): Promise<unknown[]> {
  const rows = await database.selectFrom("notes").select("body").orderBy("id").execute();
  return rows.map((row) => row.body);
}

async function failureOf(statement: Promise<unknown>): Promise<Error & { code?: string }> {
  const outcome = await statement.then(
    () => "it did not fail",
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error(`Not an error: ${outcome}`);
  return outcome;
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  path = join(directory, "notes.db");
  workers = [];
  opened = [];
  writer = open("write");
  reader = open("read");
  await sql`create table notes (id integer primary key, body unique)`.execute(writer);
});

afterEach(async () => {
  for (const database of opened) await database.destroy();
  await rm(directory, { recursive: true, force: true });
});

describe("values on their way to the thread and back", () => {
  test.each([
    ["a text with a NUL, an astral character and a combining one", "a\u0000b😀e\u0301"],
    ["an empty text", ""],
    ["null", null],
    ["a double", 0.1],
    ["the largest exact integer", Number.MAX_SAFE_INTEGER],
    ["a text of a megabyte", "ö".repeat(2 ** 20)],
    ["bytes", new Uint8Array([0, 255, 128])],
  ])("keep %s", async (_, body) => {
    await writer.insertInto("notes").values({ id: 1, body }).execute();
    expect(await bodies(reader)).toEqual([body]);
  });

  test("take a bigint as a number and a boolean as 0 or 1", async () => {
    await writer
      .insertInto("notes")
      .values([
        { id: 1, body: 12345678901n },
        { id: 2, body: true },
        { id: 3, body: false },
      ])
      .execute();
    expect(await bodies(reader)).toEqual([12345678901, 1, 0]);
  });

  test("may be ten thousand in one statement, again and again", async () => {
    for (const first of [0, 5_000]) {
      const values = Array.from({ length: 5_000 }, (_, index) => ({
        id: first + index,
        body: `note ${first + index}`,
      }));
      await writer.insertInto("notes").values(values).execute();
    }
    const all = await bodies(reader);
    expect(all.length).toBe(10_000);
    expect(all[9_999]).toBe("note 9999");
  });
});

test("a statement tells how many rows it changed, the id that it gave, and the rows that it returns", async () => {
  const inserted = await writer
    .insertInto("notes")
    .values({ id: 7, body: "seventh" })
    .executeTakeFirstOrThrow();
  expect(inserted.insertId).toBe(7n);
  const updated = await writer.updateTable("notes").set({ body: "new" }).executeTakeFirstOrThrow();
  expect(updated.numUpdatedRows).toBe(1n);
  const returned = await writer
    .insertInto("notes")
    .values({ id: 8, body: "eighth" })
    .returning("body")
    .execute();
  expect(returned).toEqual([{ body: "eighth" }]);
});

describe("a transaction", () => {
  test("is seen by another connection once it is committed, and not before", async () => {
    await writer.transaction().execute(async (transaction) => {
      await transaction.insertInto("notes").values({ id: 1, body: "one" }).execute();
      expect(await bodies(reader)).toEqual([]);
    });
    expect(await bodies(reader)).toEqual(["one"]);
  });

  test("leaves nothing behind when it fails", async () => {
    const failure = await failureOf(
      writer.transaction().execute(async (transaction) => {
        await transaction.insertInto("notes").values({ id: 1, body: "one" }).execute();
        throw new Error("changed my mind");
      }),
    );
    expect(failure.message).toBe("changed my mind");
    expect(await bodies(writer)).toEqual([]);
  });

  test("keeps statements that came meanwhile out", async () => {
    let outside: Promise<unknown> | undefined;
    await failureOf(
      writer.transaction().execute(async (transaction) => {
        outside = writer.insertInto("notes").values({ id: 2, body: "outside" }).execute();
        await transaction.insertInto("notes").values({ id: 1, body: "inside" }).execute();
        await setTimeout(20);
        throw new Error("take it back");
      }),
    );
    await outside;
    expect(await bodies(reader)).toEqual(["outside"]);
  });

  test("of the reader looks at one state of the database, and holds up no write", async () => {
    await reader.transaction().execute(async (transaction) => {
      expect(await bodies(transaction)).toEqual([]);
      await writer.insertInto("notes").values({ id: 1, body: "one" }).execute();
      expect(await bodies(transaction)).toEqual([]);
    });
    expect(await bodies(reader)).toEqual(["one"]);
  });
});

describe("an error", () => {
  test("of a value that is there already keeps its code and message", async () => {
    await writer.insertInto("notes").values({ id: 1, body: "one" }).execute();
    const failure = await failureOf(writer.insertInto("notes").values({ id: 2, body: "one" }).execute());
    expect(failure.code).toBe("SQLITE_CONSTRAINT_UNIQUE");
    expect(failure.message).toBe("UNIQUE constraint failed: notes.body");
    expect(isStoreUnavailable(failure)).toBe(false);
  });

  test("of a lock that another connection holds says that the store is unavailable", async () => {
    const other = open("write");
    await sql`pragma busy_timeout = 20`.execute(other);
    await writer.transaction().execute(async () => {
      const failure = await failureOf(other.insertInto("notes").values({ id: 1, body: "one" }).execute());
      expect(failure.code).toBe("SQLITE_BUSY");
      expect(isStoreUnavailable(failure)).toBe(true);
    });
  });

  test("of a full disk is not hidden by taking back a transaction that SQLite took back itself", async () => {
    await sql`pragma max_page_count = 20`.execute(writer);
    const failure = await failureOf(
      writer.transaction().execute(async (transaction) => {
        await transaction
          .insertInto("notes")
          .values({ id: 1, body: "x".repeat(1_000_000) })
          .execute();
      }),
    );
    expect(failure.code).toBe("SQLITE_FULL");
    await writer.insertInto("notes").values({ id: 1, body: "small" }).execute();
    expect(await bodies(reader)).toEqual(["small"]);
  });

  test("tells a reader that it does not write", async () => {
    const failure = await failureOf(reader.insertInto("notes").values({ id: 1, body: "one" }).execute());
    expect(failure.code).toBe("SQLITE_READONLY");
  });

  test("tells that a file cannot be opened, and is gone once it can be", async () => {
    const late = new Kysely<Notes>({
      dialect: sqliteThreadDialect(() =>
        startSqliteWorker({ path: join(directory, "made-later"), access: "read" }),
      ),
    });
    opened.push(late);
    const { mkdir, rmdir } = await import("node:fs/promises");
    await mkdir(join(directory, "made-later"));
    await failureOf(sql`select 1`.execute(late));
    await rmdir(join(directory, "made-later"));
    expect((await sql`select 1 as one`.execute(late)).rows).toEqual([{ one: 1 }]);
  });

  test("tells of a parameter that cannot be sent, and spoils nothing else", async () => {
    const failing = failureOf(
      writer
        .insertInto("notes")
        .values({ id: 1, body: Symbol("no value of a database") })
        .execute(),
    );
    const working = writer.insertInto("notes").values({ id: 2, body: "two" }).execute();
    expect((await failing).name).toBe("DataCloneError");
    await working;
    expect(await bodies(reader)).toEqual(["two"]);
  });
});

test("a slow statement does not hold up this thread", async () => {
  const slow = slowStatement.execute(reader);
  let ticks = 0;
  const counting = (async () => {
    for await (const _ of setInterval(5)) {
      ticks += 1;
      if (ticks === 20) return performance.now();
    }
    return 0;
  })();
  const first = await Promise.race([slow.then(() => "slow statement"), counting.then(() => "twenty ticks")]);
  expect(first).toBe("twenty ticks");
  expect((await slow).rows).toEqual([{ last: 10_000_000 }]);
});

test("a slow read does not hold up a write", async () => {
  await bodies(reader);
  const slow = slowStatement.execute(reader).then(() => "slow read");
  const write = writer
    .insertInto("notes")
    .values({ id: 1, body: "one" })
    .execute()
    .then(() => "write");
  expect(await Promise.race([slow, write])).toBe("write");
  await slow;
});

describe("a thread that dies", () => {
  test("fails what it was asked, and the next statement starts another", async () => {
    await bodies(reader);
    const slow = failureOf(slowStatement.execute(reader));
    await setTimeout(50);
    await workers[1]?.terminate();
    const failure = await slow;
    expect(failure.message).toContain("thread ended");
    expect(isStoreUnavailable(failure)).toBe(true);
    expect(await bodies(reader)).toEqual([]);
    expect(workers.length).toBe(3);
  });

  test("takes its transaction with it, of which no later statement runs outside of it", async () => {
    const failure = await failureOf(
      writer.transaction().execute(async (transaction) => {
        await transaction.insertInto("notes").values({ id: 1, body: "before" }).execute();
        await workers[0]?.terminate();
        await transaction.insertInto("notes").values({ id: 2, body: "after" }).execute();
      }),
    );
    expect(failure.message).toContain("thread ended");
    await writer.insertInto("notes").values({ id: 3, body: "next" }).execute();
    expect(await bodies(reader)).toEqual(["next"]);
  });
});

describe("destroy", () => {
  test("finishes the statements that were asked, closes the connections and ends the threads", async () => {
    const counted = slowStatement.execute(writer);
    const inserted = writer.insertInto("notes").values({ id: 1, body: "one" }).execute();
    await bodies(reader);
    // Kysely turns down what comes after a destroy, but these two are waiting already.
    await setTimeout(1);
    await reader.destroy();
    await writer.destroy();
    expect((await counted).rows).toEqual([{ last: 10_000_000 }]);
    await inserted;
    // SQLite removes its log when the last connection is closed.
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(await bodies(open("read"))).toEqual(["one"]);
  });

  test("starts no thread that was never needed", async () => {
    const before = workers.length;
    await open("write").destroy();
    expect(workers.length).toBe(before);
  });
});

test("a process waits for a statement that it asked for, and not for a thread that has nothing to do", async () => {
  const child = Bun.spawn({
    cmd: [process.execPath, "--eval", askWithoutDestroy, path],
    stdout: "pipe",
    stderr: "inherit",
    timeout: 30_000,
  });
  expect(await child.stdout.text()).toBe("10000000");
  expect(await child.exited).toBe(0);
});
