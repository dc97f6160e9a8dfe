import { setTimeout as sleep } from "node:timers/promises";
import { charactersOf, type Sample } from "../../evaluators/outcome.ts";
import { parseStored } from "../../platform/json.ts";
import { refuseClosedAccounts } from "../../platform/storage/closed-accounts-store.ts";
import { splitByBytes } from "../../platform/storage/lists.ts";
import { insertRows, insertTogether } from "../../platform/storage/rows.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { numberOf } from "../../platform/words.ts";
import { addErrorFindings, countErrorFindings } from "../error-findings-store.ts";
import { type EvaluationRecord, type ResultRows, type StoredResult, toRows, toTagRows } from "../result.ts";
import {
  addCounted,
  addCounts,
  addSeries,
  countResults,
  createSeriesMemory,
  haveOpenSeries,
  seriesOf,
} from "./counts-store.ts";
import {
  addTimes,
  claimRequestKeys,
  countPayloads,
  deletePayloads,
  forgetTextsAhead,
  insertResults,
  type Numbers,
  recordTextsAhead,
  selectLastNumber,
  sweepPayloads,
  takeNumbers,
} from "./results-store.ts";
import { selectByRequestKeys } from "./stored-results-store.ts";

interface Shared {
  systemPrompts: string[];
  samples: (Omit<Sample, "systemPrompt"> & { systemPrompt?: number | undefined })[];
  metadata: EvaluationRecord["metadata"][];
  /** For each record, the places of its sample and its metadata, and its other fields. */
  records: [sample: number, metadata: number, rest: Omit<EvaluationRecord, "sample" | "metadata">][];
}

/**
 * Records as one text for another thread. The evaluators of a sample share its texts, and the samples of a run often their system
 * prompt: both are written once.
 */
export function toText(records: readonly EvaluationRecord[]): string {
  const samples = new Map<Sample, number>();
  const metadata = new Map<EvaluationRecord["metadata"], number>();
  const shared: Shared["records"] = records.map(({ sample, metadata: about, ...rest }) => [
    numberOf(samples, sample),
    numberOf(metadata, about),
    rest,
  ]);
  const systemPrompts = new Map<string, number>();
  const written = Array.from(samples.keys(), ({ systemPrompt, ...sample }) =>
    systemPrompt === undefined ? sample : { ...sample, systemPrompt: numberOf(systemPrompts, systemPrompt) },
  );
  const text: Shared = {
    systemPrompts: [...systemPrompts.keys()],
    samples: written,
    metadata: [...metadata.keys()],
    records: shared,
  };
  return JSON.stringify(text);
}

/** The records in a text from `toText`. */
export function toRecords(text: string): EvaluationRecord[] {
  const { systemPrompts, samples, metadata, records } = parseStored(text) as Shared;
  const read = samples.map(
    ({ systemPrompt: place, ...sample }): Sample =>
      place === undefined ? sample : { systemPrompt: systemPrompts[place], ...sample },
  );
  return records.map(([sample, about, rest]) => ({
    ...rest,
    sample: read[sample] ?? {},
    metadata: metadata[about] ?? { app: "" },
  }));
}

/** The most characters of texts in one transaction, which take some tens of milliseconds. */
const partCharacters = 2_000_000;
/** Longer than other writers pause between two attempts at the file. */
const pauseMs = 15;

/** The numbers of results that were stored together, in their order, and the time at which they were. */
export interface Written extends Numbers {
  /** The result that already had a record's request key, by the record's index. */
  earlier: ReadonlyMap<number, StoredResult>;
}

/** Stores and counts results, all or nothing. Returns once they are on disk. */
export type WriteResults = (records: readonly EvaluationRecord[]) => Promise<Written>;

export function createWriteResults(database: Database): WriteResults {
  // SQLite has one writer at a time, which can add series in its transaction.
  return isPostgres(database)
    ? writeAfterSeries(database)
    : (records) => writeWithSeries(database, records.map(toRows));
}

function writeAfterSeries(database: Database): WriteResults {
  const memory = createSeriesMemory(database);
  return async (records) => {
    const results = records.map(toRows);
    const series = seriesOf(results.map(({ row }) => row));
    await memory.ensure(series);
    const written = await database.transaction().execute(async (transaction) => {
      const numbers = await takeNumbers(transaction, results.length);
      if (!(await haveOpenSeries(transaction, series))) return undefined;
      return await storeNumbered(transaction, results, numbers, { hasSeries: true });
    });
    if (written !== undefined) return written;
    // The series were deleted with the account's data, and someone has joined the account since. Throws if it is still closed.
    memory.forget(series);
    return await writeWithSeries(database, results);
  };
}

async function writeWithSeries(database: Database, results: readonly ResultRows[]): Promise<Written> {
  return await storeResults(database, results, async (transaction) => ({
    numbers: await takeNumbers(transaction, results.length),
    isThere: { hasSeries: false },
  }));
}

/** The parts of results that are stored already. */
interface IsThere {
  hasSeries: boolean;
  hasPayloads?: boolean;
}

/** Stores and counts results in one transaction, under the numbers that `prepare` returns. */
async function storeResults(
  database: Database,
  results: readonly ResultRows[],
  prepare: (transaction: Database) => Promise<{ numbers: Numbers; isThere: IsThere }>,
): Promise<Written> {
  return await database.transaction().execute(async (transaction) => {
    const { numbers, isThere } = await prepare(transaction);
    await refuseClosedAccounts(
      transaction,
      results.map(({ row }) => row.account_id),
    );
    return await storeNumbered(transaction, results, numbers, isThere);
  });
}

async function storeNumbered(
  transaction: Database,
  results: readonly ResultRows[],
  numbers: Numbers,
  isThere: IsThere,
): Promise<Written> {
  numberRows(results, numbers);
  const stored = await addResults(transaction, results, isThere);
  // Before the commit: after it, nothing may fail.
  return { ...numbers, earlier: await findEarlier(transaction, results, stored) };
}

/** Stores results, except those whose request key is taken, and counts them in every rollup. Returns the stored ones. */
export async function addResults(
  transaction: Database,
  results: readonly ResultRows[],
  { hasSeries, hasPayloads = false }: IsThere,
): Promise<readonly ResultRows[]> {
  const stored = await claimRequestKeys(transaction, results);
  if (hasPayloads && stored.length < results.length) {
    const storedIds = new Set(stored.map(({ row }) => row.id));
    await deletePayloads(
      transaction,
      results.map(({ row }) => row.id).filter((id) => !storedIds.has(id)),
    );
  }
  const { series, counts } = countResults(stored.map(({ row }) => row));
  const findings = countErrorFindings(stored);
  if (!hasSeries) await addSeries(transaction, series);
  if (isPostgres(transaction)) {
    const deltas = [
      { table: "evaluation_count_deltas" as const, rows: counts },
      { table: "error_finding_count_deltas" as const, rows: findings },
    ];
    await insertResults(transaction, stored, deltas, { hasPayloads });
  } else {
    await insertResults(transaction, stored, [], { hasPayloads });
    await addCounts(transaction, counts);
    await addErrorFindings(transaction, findings);
  }
  return stored;
}

export function numberResults(
  records: readonly EvaluationRecord[],
  { ids, createdAt, earlier }: Numbers & Partial<Written>,
): StoredResult[] {
  return records.map((record, index) => {
    const id = ids[index];
    if (id === undefined) throw tooFewNumbers();
    return earlier?.get(index) ?? { ...record, id, createdAt };
  });
}

/** Gives results, which are only rows so far, their numbers and their time. */
export function numberRows(results: readonly ResultRows[], { ids, createdAt }: Numbers): void {
  for (const [index, { row, texts }] of results.entries()) {
    const id = ids[index];
    if (id === undefined) throw tooFewNumbers();
    row.id = id;
    row.created_at = createdAt;
    texts.result_id = id;
  }
}

function tooFewNumbers(): Error {
  return new Error("There are fewer numbers than results");
}

async function findEarlier(
  database: Database,
  results: readonly ResultRows[],
  stored: readonly ResultRows[],
): Promise<Map<number, StoredResult>> {
  const earlier = new Map<number, StoredResult>();
  if (stored.length === results.length) return earlier;
  const storedIds = new Set(stored.map(({ row }) => row.id));
  const duplicates = results.flatMap(({ row: { id, account_id: accountId, request_key } }, index) =>
    storedIds.has(id) ? [] : [{ index, accountId, key: request_key ?? "" }],
  );
  for (const [accountId, some] of Map.groupBy(duplicates, (duplicate) => duplicate.accountId)) {
    const found = await selectByRequestKeys(
      database,
      accountId,
      some.map(({ key }) => key),
    );
    for (const { index, key } of some) {
      const result = found.get(key);
      if (result === undefined) throw new Error("A request key is taken, and no result has it");
      earlier.set(index, result);
    }
  }
  return earlier;
}

/**
 * Stores results as they were in another database, under numbers that are taken, and counts them with the verdicts that count. Returns
 * the ids of results that did not exist; if any did, nothing else is stored.
 */
export async function restoreResults(
  transaction: Database,
  results: readonly ResultRows[],
): Promise<{ id: number }[]> {
  const rows = results.map(({ row }) => row);
  const ending = "on conflict do nothing returning id";
  const stored = await insertRows(transaction, "evaluation_results", rows, ending);
  const ids = stored.map(({ id = 0 }) => ({ id }));
  if (ids.length < rows.length) return ids;
  await insertTogether(transaction, [
    { table: "evaluation_payloads", rows: results.map(({ texts }) => texts) },
    { table: "evaluation_tags", rows: results.flatMap(({ row, texts }) => toTagRows(row, texts.tags)) },
  ]);
  await addTimes(transaction, rows);
  await addCounted(transaction, countResults(rows));
  await addErrorFindings(transaction, countErrorFindings(results));
  return ids;
}

/**
 * Writes results into an SQLite file, where a transaction blocks all other writers. Long texts are written ahead, part by part, under
 * numbers taken beforehand. They are invisible until the results follow, all at once.
 */
export function createWriteInParts(database: Database): WriteResults {
  const writeAtOnce = createWriteResults(database);
  let isSwept = false;

  return async (records) => {
    // Texts left by a process that stopped in the middle.
    if (!isSwept) await sweepPayloads(database);
    isSwept = true;
    const parts = splitTexts(records);
    if (parts.length < 2) return await writeAtOnce(records);
    const numbers = await database.transaction().execute(async (transaction) => {
      const taken = await takeNumbers(transaction, records.length);
      await recordTextsAhead(transaction, taken.ids);
      return taken;
    });
    const results = records.map(toRows);
    numberRows(results, numbers);
    try {
      for (const part of parts) {
        const some = part.flatMap((index) => results[index]?.texts ?? []);
        await insertRows(database, "evaluation_payloads", some);
        await sleep(pauseMs);
      }
      return await storeResults(database, results, (transaction) => settle(transaction, numbers));
    } catch (error) {
      // Texts that cannot be deleted now are swept at the next start.
      await deletePayloads(database, numbers.ids)
        .then(() => forgetTextsAhead(database, numbers.ids))
        .catch(() => {});
      throw error;
    }
  };
}

/**
 * Keeps the numbers if their texts are stored and no later numbers, which may already be visible, were taken. Otherwise takes new
 * numbers, and the texts are stored with the results.
 */
async function settle(transaction: Database, taken: Numbers) {
  await forgetTextsAhead(transaction, taken.ids);
  const isLast = (await selectLastNumber(transaction)) === taken.ids.at(-1);
  if (isLast && (await countPayloads(transaction, taken.ids)) === taken.ids.length) {
    return { numbers: taken, isThere: { hasSeries: false, hasPayloads: true } };
  }
  await deletePayloads(transaction, taken.ids);
  const numbers = await takeNumbers(transaction, taken.ids.length);
  return { numbers, isThere: { hasSeries: false } };
}

function splitTexts(records: readonly EvaluationRecord[]): number[][] {
  const characters = new Map(records.map(({ sample }, index) => [index, charactersOf(sample)]));
  return splitByBytes([...characters.keys()], characters, {
    maxIds: records.length,
    maxBytes: partCharacters,
  });
}
