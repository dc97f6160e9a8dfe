import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval, setTimeout } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Kysely, sql } from "kysely";
import { slowTest } from "../../../../test/support/whole-run.ts";
import { isStoreUnavailable } from "../store-error.ts";
import { sqliteThreadDialect, startSqliteWorker } from "./sqlite-driver.ts";
import { openSqlite } from "./sqlite-file.ts";

interface Notes {
  notes: { id: number; body: string };
}

/** Counts to a million, which takes about 0.1 s. */
const slowStatement = sql<{ last: number }>`
  with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 1000000)
  select max(n) as last from counter
`;

const severalSlow = (count: number) =>
  sql`select * from ${sql.join(Array.from({ length: count }, () => sql`(${slowStatement})`))}`;

/** A program that counts in the same way and does not close anything. */
const askWithoutDestroy = `
  import { Kysely, sql } from "kysely";
  import { sqliteThreadDialect, startSqliteWorker } from ${JSON.stringify(join(import.meta.dir, "sqlite-driver.ts"))};
  const path = process.argv.at(-1);
  const database = new Kysely({ dialect: sqliteThreadDialect(() => startSqliteWorker(path), 60_000) });
  const counting = sql\`
    with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 1000000)
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
let writer: Database;
let reader: Kysely<Notes>;

function open(atPath = path, timeoutMs = 60_000): Kysely<Notes> {
  const database = new Kysely<Notes>({
    dialect: sqliteThreadDialect(() => {
      const worker = startSqliteWorker(atPath);
      workers.push(worker);
      return worker;
    }, timeoutMs),
  });
  opened.push(database);
  return database;
}

function write(id: number, body: string): void {
  writer.run("insert into notes (id, body) values (?, ?)", [id, body]);
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
  writer = openSqlite(path);
  // A write that a reader blocks would fail.
  writer.run("pragma busy_timeout = 0");
  writer.run("create table notes (id integer primary key, body text not null)");
  reader = open();
});

afterEach(async () => {
  for (const database of opened) await database.destroy();
  writer.close();
  await rm(directory, { recursive: true, force: true });
});

describe("values that cross threads", () => {
  test.each([
    ["a text with a NUL, an astral character and a combining one", "a\u0000b😀e\u0301"],
    ["an empty text", ""],
    ["null", null],
    ["a double", 0.1],
    ["the largest exact integer", Number.MAX_SAFE_INTEGER],
    ["a text of a megabyte", "ö".repeat(2 ** 20)],
  ])("do not change: %s", async (_, value) => {
    expect((await sql`select ${value} as value`.execute(reader)).rows).toEqual([{ value }]);
  });

  test("become a number (bigint), 0 or 1 (boolean)", async () => {
    const { rows } = await sql`select ${12345678901n} as large, ${true} as yes, ${false} as no`.execute(
      reader,
    );
    expect(rows).toEqual([{ large: 12345678901, yes: 1, no: 0 }]);
  });

  test("can be ten thousand in one statement, repeatedly", async () => {
    for (const first of [0, 10_000]) {
      const ids = Array.from({ length: 10_000 }, (_, index) => first + index);
      const values = sql.join(ids.map((id) => sql`(${id})`));
      const { rows } = await sql`select column1 as id from (values ${values})`.execute(reader);
      expect(rows).toEqual(ids.map((id) => ({ id })));
    }
  });
});

test("committed writes are visible at once, others are not", async () => {
  expect(await bodies(reader)).toEqual([]);
  writer.run("begin immediate");
  write(1, "one");
  expect(await bodies(reader)).toEqual([]);
  writer.run("commit");
  expect(await bodies(reader)).toEqual(["one"]);
});

describe("a transaction", () => {
  test("sees one state of the database and blocks no write", async () => {
    await reader.transaction().execute(async (transaction) => {
      expect(await bodies(transaction)).toEqual([]);
      write(1, "one");
      expect(await bodies(transaction)).toEqual([]);
    });
    expect(await bodies(reader)).toEqual(["one"]);
  });

  test("excludes other statements", async () => {
    let outside: Promise<unknown[]> | undefined;
    await reader.transaction().execute(async (transaction) => {
      await bodies(transaction);
      outside = bodies(reader);
      await setTimeout(20);
      write(1, "one");
    });
    expect(await outside).toEqual(["one"]);
  });

  test("waits for another one, even if that fails", async () => {
    const read = async (transaction: Kysely<Notes>) => await bodies(transaction);
    const failing = reader.transaction().execute(async () => {
      throw new Error("changed my mind");
    });
    const all = await Promise.allSettled([failing, reader.transaction().execute(read)]);
    expect(all).toMatchObject([
      { reason: { message: "changed my mind" } },
      { status: "fulfilled", value: [] },
    ]);
  });
});

describe("an error", () => {
  test("keeps its code and message", async () => {
    const failure = await failureOf(sql`select * from nowhere`.execute(reader));
    expect(failure.code).toBe("SQLITE_ERROR");
    expect(failure.message).toBe("no such table: nowhere");
    expect(isStoreUnavailable(failure)).toBe(false);
  });

  test("reports that the connection is read-only", async () => {
    const failure = await failureOf(reader.insertInto("notes").values({ id: 1, body: "one" }).execute());
    expect(failure.code).toBe("SQLITE_READONLY");
    expect(await bodies(reader)).toEqual([]);
  });

  test("reports a file that cannot be opened, until it can be", async () => {
    const pathOfLate = join(directory, "made-later");
    const late = open(pathOfLate);
    await mkdir(pathOfLate);
    expect((await failureOf(sql`select 1`.execute(late))).code).toBe("SQLITE_CANTOPEN");
    await rmdir(pathOfLate);
    expect((await sql`select 1 as one`.execute(late)).rows).toEqual([{ one: 1 }]);
    expect(workers.length).toBe(1);
  });

  test("reports a parameter that cannot be sent, and affects nothing else", async () => {
    const failing = failureOf(sql`select ${Symbol("no value of a database")}`.execute(reader));
    const working = sql`select 2 as two`.execute(reader);
    expect((await failing).name).toBe("DataCloneError");
    expect((await working).rows).toEqual([{ two: 2 }]);
  });
});

test("a slow statement does not block the calling thread", async () => {
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
  expect((await slow).rows).toEqual([{ last: 1_000_000 }]);
});

test("a slow read does not block a write", async () => {
  await bodies(reader);
  let isRead = false;
  const slow = sql`select count(*) from notes, (${slowStatement})`.execute(reader).then(() => {
    isRead = true;
  });
  await setTimeout(50);
  write(1, "one");
  expect(isRead).toBe(false);
  await slow;
});

describe("a thread that dies", () => {
  test("fails its statement, and the next one starts another thread", async () => {
    await bodies(reader);
    const slow = failureOf(slowStatement.execute(reader));
    await setTimeout(50);
    await workers[0]?.terminate();
    const failure = await slow;
    expect(failure.message).toContain("thread ended");
    expect(isStoreUnavailable(failure)).toBe(true);
    expect(await bodies(reader)).toEqual([]);
    expect(workers.length).toBe(2);
  });

  test("ends its transaction, whose later statements do not run on another thread", async () => {
    const failure = await failureOf(
      reader.transaction().execute(async (transaction) => {
        await bodies(transaction);
        await workers[0]?.terminate();
        await bodies(transaction);
      }),
    );
    expect(failure.message).toContain("thread ended");
    expect(workers.length).toBe(1);
    write(1, "one");
    expect(await bodies(reader)).toEqual(["one"]);
  });
});

slowTest(
  "a statement that exceeds the timeout fails as unavailable and delays no other, but there are never three threads",
  async () => {
    const impatient = open(path, 700);
    const isRunning = ({ threadId }: Worker) => threadId !== -1;
    await bodies(impatient);
    const overdue = failureOf(severalSlow(9).execute(impatient));
    const next = bodies(impatient);
    expect(isStoreUnavailable(await overdue)).toBe(true);
    expect(await next).toEqual([]);
    expect(isStoreUnavailable(await failureOf(severalSlow(9).execute(impatient)))).toBe(true);
    // The first statement ends by itself.
    expect(workers.map(isRunning)).toEqual([true, true]);
    // This one may succeed, on the thread that starts after the first has ended.
    await slowStatement.execute(impatient).catch((error: unknown) => {
      expect(isStoreUnavailable(error)).toBe(true);
    });
    expect(workers.filter(isRunning).length).toBeLessThanOrEqual(2);
  },
);

describe("destroy", () => {
  test("finishes pending statements, closes the connection and ends the thread", async () => {
    const counted = slowStatement.execute(reader);
    const read = bodies(reader);
    // Kysely refuses statements after destroy, but these two are waiting already.
    await setTimeout(1);
    await reader.destroy();
    expect((await counted).rows).toEqual([{ last: 1_000_000 }]);
    expect(await read).toEqual([]);
    expect(workers.map((worker) => worker.threadId)).toEqual([-1]);
    writer.close();
    // SQLite removes its log when the last connection is closed.
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test("starts no thread that was not needed", async () => {
    await reader.destroy();
    expect(workers).toEqual([]);
  });
});

test("a process waits for pending statements, but not for an idle thread", async () => {
  const child = Bun.spawn({
    cmd: [process.execPath, "--eval", askWithoutDestroy, path],
    stdout: "pipe",
    stderr: "inherit",
    timeout: 100_000,
  });
  expect(await child.stdout.text()).toBe("1000000");
  expect(await child.exited).toBe(0);
});
