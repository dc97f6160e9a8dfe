import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { openDatabase } from "../platform/storage/open.ts";
import { openSqliteDatabase } from "../platform/storage/sqlite/sqlite.ts";
import { isStoreUnavailable, isStoreUncertain } from "../platform/storage/store-error.ts";
import { ordinaryRecord } from "../results/evaluation-record.fixture.ts";
import type { EvaluationRecord } from "../results/result.ts";
import { selectResults } from "../results/write/stored-results-store.ts";
import { toText } from "../results/write/write-results.ts";
import { startWriters, startWriterWorker } from "./storage.ts";

/** A program that asks for a write and ends the thread immediately. */
const writeAndEnd = `
  import { ordinaryRecord } from ${JSON.stringify(join(import.meta.dir, "../results/evaluation-record.fixture.ts"))};
  import { startWriters } from ${JSON.stringify(join(import.meta.dir, "storage.ts"))};
  import { toText } from ${JSON.stringify(join(import.meta.dir, "../results/write/write-results.ts"))};
  const { live, end } = startWriters(process.argv.at(-1));
  const written = live.send("results", toText([ordinaryRecord]));
  await end();
  process.stdout.write(String((await written).ids));
`;

function writeInThread(path: string, startWorker = startWriterWorker) {
  const { live, end } = startWriters(path, startWorker);
  return { write: (records: readonly EvaluationRecord[]) => live.send("results", toText(records)), end };
}

let directory: string;
let path: string;
let writer: ReturnType<typeof writeInThread>;

async function migrateFile(): Promise<void> {
  const { destroy } = await openDatabase(`sqlite:${path}`, () => {});
  await destroy();
}

/** The stored results as another connection sees them. */
async function storedResults(ids: readonly number[]) {
  const database = openSqliteDatabase(path);
  return await selectResults(database, ordinaryRecord.accountId, ids).finally(() => database.destroy());
}

async function failureOf(writing: Promise<unknown>): Promise<unknown> {
  return await writing.then(
    () => "it did not fail",
    (error: unknown) => error,
  );
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  path = join(directory, "presage.db");
  writer = writeInThread(path);
});

afterEach(async () => {
  await writer.end();
  await rm(directory, { recursive: true, force: true });
});

test("written results are visible to another connection", async () => {
  await migrateFile();
  const records = [
    { ...ordinaryRecord, sample: { input: "日本語 \u0000 😀", output: "ö".repeat(100_000) } },
    { ...ordinaryRecord, outcome: { status: "failed" as const, errorMessage: "timeout: No answer." } },
  ];
  const { ids, createdAt } = await writer.write(records);
  expect(ids).toEqual([1, 2]);
  expect(Math.abs(createdAt / 1000 - Date.now())).toBeLessThan(60_000);
  expect(await storedResults([1, 2])).toEqual(
    records.map((record, index) => ({ ...record, id: index + 1, createdAt })),
  );
});

test("several calls at once are written in their order", async () => {
  await migrateFile();
  const lengths = [1, 3, 2, 1];
  const written = await Promise.all(
    lengths.map((length) => writer.write(Array(length).fill(ordinaryRecord))),
  );
  expect(written.map(({ ids }) => ids)).toEqual([[1], [2, 3, 4], [5, 6], [7]]);
  expect((await storedResults([1, 2, 3, 4, 5, 6, 7, 8])).length).toBe(7);
});

describe("a record that the store rejects", () => {
  test("fails with the store's error, and leaves nothing of its call behind", async () => {
    await migrateFile();
    // A row that the schema rejects.
    const bad = { ...ordinaryRecord, metadata: {} as typeof ordinaryRecord.metadata };
    const refused = failureOf(writer.write([ordinaryRecord, bad]));
    const next = writer.write([ordinaryRecord]);
    expect(await refused).toMatchObject({ code: "SQLITE_CONSTRAINT_NOTNULL" });
    expect((await next).ids).toEqual([1]);
    expect((await storedResults([1, 2, 3])).length).toBe(1);
  });

  test("is not one whose request key is taken: the result with that key is returned in its place", async () => {
    await migrateFile();
    const keyed = { ...ordinaryRecord, requestKey: "once" };
    const first = await writer.write([keyed]);
    const second = await writer.write([{ ...keyed, sample: { input: "twin" } }, ordinaryRecord, keyed]);
    expect(first.earlier).toEqual(new Map());
    const kept = { ...keyed, id: 1, createdAt: first.createdAt };
    expect(second.earlier).toEqual(new Map([0, 2].map((index) => [index, kept])));
    expect((await storedResults([1, 2, 3, 4])).map(({ requestKey }) => requestKey)).toEqual([
      "once",
      undefined,
    ]);
  });

  test("is written on the same thread once the store accepts it", async () => {
    const failure = await failureOf(writer.write([ordinaryRecord]));
    expect(failure).toMatchObject({
      code: "SQLITE_ERROR",
      message: expect.stringContaining("no such table"),
    });
    await migrateFile();
    expect((await writer.write([ordinaryRecord])).ids).toEqual([1]);
  });
});

test("a file that cannot be opened fails a call as an unavailable store, and is opened once that is possible", async () => {
  // A directory cannot be opened as a file.
  await mkdir(path);
  const failure = await failureOf(writer.write([ordinaryRecord]));
  expect(failure).toMatchObject({ code: "SQLITE_CANTOPEN" });
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  await rmdir(path);
  await migrateFile();
  expect((await writer.write([ordinaryRecord])).ids).toEqual([1]);
  expect((await storedResults([1])).length).toBe(1);
});

test("a thread that dies leaves calls in progress uncertain, and the next call starts another thread", async () => {
  await migrateFile();
  const workers: Worker[] = [];
  const { write, end } = writeInThread(path, (...start) => {
    const worker = startWriterWorker(...start);
    workers.push(worker);
    return worker;
  });
  await write([ordinaryRecord]);
  // Holds the lock, so that the writes cannot end before the thread does.
  const other = new Database(path);
  other.run("begin immediate");
  const failures = [failureOf(write([ordinaryRecord])), failureOf(write([ordinaryRecord]))];
  await workers[0]?.terminate();
  other.close();
  for (const failure of await Promise.all(failures)) {
    expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, true]);
  }
  const { ids } = await write([ordinaryRecord]);
  expect((await storedResults(ids)).length).toBe(1);
  expect(workers.length).toBe(2);
  await end();
});

describe("end", () => {
  test("finishes the write in progress, closes the file and lets the process exit", async () => {
    await migrateFile();
    const child = Bun.spawn({
      cmd: [process.execPath, "--eval", writeAndEnd, path],
      stdout: "pipe",
      stderr: "inherit",
      timeout: 30_000,
    });
    expect(await child.stdout.text()).toBe("1");
    expect(await child.exited).toBe(0);
    // SQLite removes its log when the last connection is closed.
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect((await storedResults([1])).length).toBe(1);
  });

  test("does nothing if nothing was written", async () => {
    await writer.end();
    expect(existsSync(path)).toBe(false);
  });
});
