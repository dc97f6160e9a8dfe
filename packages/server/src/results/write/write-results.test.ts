import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWriters } from "../../app/storage.ts";
import { openDatabase } from "../../platform/storage/open.ts";
import { claimOnce } from "../../platform/storage/settings-store.ts";
import type { OpenedDatabase } from "../../platform/storage/store.ts";
import { ordinaryRecord } from "../evaluation-record.fixture.ts";
import type { EvaluationRecord } from "../result.ts";
import { selectResults } from "./stored-results-store.ts";
import { createWriteInParts, createWriteResults, toRecords, toText } from "./write-results.ts";

let directory: string;
let path: string;
let opened: OpenedDatabase;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  path = join(directory, "presage.db");
  opened = await openDatabase(`sqlite:${path}`, () => {});
});

afterEach(async () => {
  await opened.destroy();
  await rm(directory, { recursive: true, force: true });
});

/** The records of an import of 16 MB. */
function longRecords(count = 1_000): EvaluationRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ...ordinaryRecord,
    sample: { output: `${index} ${"x".repeat(15_000)}` },
  }));
}

async function countRows() {
  const { count } = opened.database.fn;
  const payloads = await opened.database
    .selectFrom("evaluation_payloads")
    .select(count<number>("result_id").as("rows"))
    .executeTakeFirstOrThrow();
  const results = await opened.database
    .selectFrom("evaluation_results")
    .select(count<number>("id").as("rows"))
    .executeTakeFirstOrThrow();
  return { payloads: payloads.rows, results: results.rows };
}

async function lastNumber(): Promise<number> {
  const clock = await opened.database
    .selectFrom("evaluation_clock")
    .select("last_id")
    .executeTakeFirstOrThrow();
  return clock.last_id;
}

function writeInThread(path: string) {
  const { live, end } = startWriters(path);
  return { write: (records: readonly EvaluationRecord[]) => live.send("results", toText(records)), end };
}

/** Runs `interfere` once, when the first part of an import is stored and its results are not. */
async function betweenParts(interfere: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const { payloads, results } = await countRows();
    if (payloads > results) break;
    await Bun.sleep(1);
  }
  await interfere();
}

async function expectWhole(records: readonly EvaluationRecord[], ids: readonly number[]): Promise<void> {
  const stored = await selectResults(opened.database, ordinaryRecord.accountId, ids);
  expect(stored.map(({ sample }) => sample)).toEqual(records.map(({ sample }) => sample));
}

test("small writes get through while results with long texts are written", async () => {
  const writer = writeInThread(path);
  await writer.write([ordinaryRecord]);
  let isOver = false;
  const writing = writer.write(longRecords()).finally(() => {
    isOver = true;
  });
  let letIn = 0;
  for (let small = 0; !isOver; small++) {
    // The numbers of the long results are taken, but none of these results is visible.
    const isUnderWay = (await lastNumber()) > 1;
    await claimOnce(opened.database, `small ${small}`);
    if (isUnderWay && (await countRows()).results === 1) letIn += 1;
    await Bun.sleep(2);
  }
  await writing;
  await writer.end();
  expect(letIn).toBeGreaterThan(3);
}, 300_000);

test("writes of another kind on the same thread get through while results with long texts are written", async () => {
  const { live, end } = startWriters(path);
  let isOver = false;
  const writing = live.send("results", toText(longRecords())).finally(() => {
    isOver = true;
  });
  let letIn = 0;
  while (!isOver) {
    await live.send("episodes", "[]");
    if (!isOver && (await lastNumber()) > 1) letIn += 1;
    await Bun.sleep(2);
  }
  await writing;
  await end();
  expect(letIn).toBeGreaterThan(3);
}, 300_000);

test("results with long texts are stored whole and in order, and are never visible in part", async () => {
  const write = createWriteInParts(opened.database);
  const records = longRecords(400);
  let isOver = false;
  const writing = write(records).finally(() => {
    isOver = true;
  });
  const seen = new Set<number>();
  while (!isOver) {
    seen.add((await countRows()).results);
    await Bun.sleep(2);
  }
  const { ids } = await writing;
  expect(ids).toEqual(records.map((_, index) => index + 1));
  await expectWhole(records, ids);
  expect([...seen].filter((results) => results !== 0 && results !== records.length)).toEqual([]);
}, 300_000);

test("if another process takes numbers meanwhile, the results get later ones, so that readers miss none", async () => {
  const records = longRecords(400);
  const writing = createWriteInParts(opened.database)(records);
  const other = createWriteResults(opened.database);
  const between: number[] = [];
  await betweenParts(async () => between.push(...(await other([ordinaryRecord])).ids));
  const { ids } = await writing;
  expect(Math.min(...ids)).toBeGreaterThan(between[0] ?? Number.POSITIVE_INFINITY);
  await expectWhole(records, ids);
  expect(await countRows()).toEqual({ payloads: 401, results: 401 });
}, 300_000);

test("if another process sweeps meanwhile, nothing is lost", async () => {
  const records = longRecords(400);
  const writing = createWriteInParts(opened.database)(records);
  await betweenParts(() => createWriteInParts(opened.database)([ordinaryRecord]));
  const { ids } = await writing;
  await expectWhole(records, ids);
  expect(await countRows()).toEqual({ payloads: 401, results: 401 });
}, 300_000);

test("what a killed process left behind is swept by the next one", async () => {
  const directoryOfThis = JSON.stringify(import.meta.dir);
  const program = `
    const { ordinaryRecord } = await import(${directoryOfThis} + "/../evaluation-record.fixture.ts");
    const { startWriters } = await import(${directoryOfThis} + "/../../app/storage.ts");
    const { toText } = await import(${directoryOfThis} + "/write-results.ts");
    const sample = { output: "x".repeat(15_000) };
    const records = Array(1_000).fill({ ...ordinaryRecord, sample });
    await startWriters(process.argv.at(-1)).live.send("results", toText(records));
  `;
  const writing = Bun.spawn([process.execPath, "-e", program, path]);
  await betweenParts(async () => writing.kill("SIGKILL"));
  await writing.exited;
  const left = await countRows();
  expect(left.results).toBe(0);
  expect(left.payloads).toBeGreaterThan(0);
  // This write comes from a running process, which sweeps nothing.
  await createWriteResults(opened.database)([ordinaryRecord]);
  const next = writeInThread(path);
  const { ids } = await next.write([ordinaryRecord]);
  await next.end();
  expect(ids).toEqual([1_002]);
  expect(await countRows()).toEqual({ payloads: 2, results: 2 });
}, 300_000);

test("a duplicate request key leaves no texts behind", async () => {
  const write = createWriteInParts(opened.database);
  const [first, ...rest] = longRecords(300);
  if (first === undefined) throw new Error("There is no first");
  const keyed = { ...first, requestKey: "once" };
  await write([keyed]);
  const written = await write([keyed, ...rest]);
  expect(written.earlier.get(0)?.id).toBe(1);
  expect(await countRows()).toEqual({ payloads: 300, results: 300 });
  await expectWhole(rest, written.ids.slice(1));
}, 300_000);

test("records are the same on the other side", () => {
  const other = { ...ordinaryRecord, sample: { output: "日本語 \u0000 😀" }, metadata: { app: "other" } };
  const records = [ordinaryRecord, other, { ...ordinaryRecord, evaluatorId: "another" }];
  expect(toRecords(toText(records))).toEqual(records);
});

test("samples with the same system prompt have it written once", () => {
  const records = ["a", "b", "c"].map((output) => ({
    ...ordinaryRecord,
    sample: { systemPrompt: "x".repeat(10_000), output },
  }));
  expect(toText(records).length).toBeLessThan(12_000);
  expect(toRecords(toText(records))).toEqual(records);
});

test("the texts of a sample are written once for all its evaluators", () => {
  const sample = { systemPrompt: "x".repeat(10_000), output: "out" };
  const records = ["a", "b", "c"].map((evaluatorId) => ({ ...ordinaryRecord, evaluatorId, sample }));
  expect(toText(records).length).toBeLessThan(12_000);
});
