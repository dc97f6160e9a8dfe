import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { countErrorFindings } from "../error-findings/count-error-findings.ts";
import { addErrorFindings } from "../error-findings/error-findings-store.ts";
import type { EvaluationRecord, StoredResult } from "../record/evaluation-record.ts";
import { selectByRequestKeys } from "../record/stored-results-store.ts";
import { countResults, seriesOf } from "./count-results.ts";
import { type Numbers, takeNumbers } from "./numbers-store.ts";
import { claimRequestKeys, deletePayloads, insertResults } from "./results-store.ts";
import { addCounts, addSeries, createEnsureSeries } from "./rollup-writes-store.ts";

/** The numbers of results that were stored together, in their order, and when that was. */
export interface Written extends Numbers {
  /** The result that already had a record's request key, by the record's index. */
  earlier: ReadonlyMap<number, StoredResult>;
}

/** Stores and counts results, all or nothing. Returns once they are on disk. */
export type WriteResults = (records: readonly EvaluationRecord[]) => Promise<Written>;

export function createWriteResults(database: Database): WriteResults {
  const ensureSeries = createEnsureSeries(database);
  return async (records) => {
    // SQLite has one writer at a time, which can add them in its transaction.
    const isAhead = isPostgres(database);
    if (isAhead) await ensureSeries(seriesOf(records));
    return await storeResults(database, records, async (transaction) => ({
      numbers: await takeNumbers(transaction, records.length),
      isThere: { hasSeries: isAhead },
    }));
  };
}

/** What is stored ahead of results. */
interface IsThere {
  hasSeries: boolean;
  hasPayloads?: boolean;
}

/** Stores and counts results in one transaction, under the numbers that `prepare` returns. */
export async function storeResults(
  database: Database,
  records: readonly EvaluationRecord[],
  prepare: (transaction: Database) => Promise<{ numbers: Numbers; isThere: IsThere }>,
): Promise<Written> {
  return await database.transaction().execute(async (transaction) => {
    const { numbers, isThere } = await prepare(transaction);
    const results = numberResults(records, numbers);
    const stored = await addResults(transaction, results, isThere);
    // Before the commit: after it, nothing may fail.
    return { ...numbers, earlier: await findEarlier(transaction, results, stored) };
  });
}

/** Stores results, except those whose request key is taken, and counts them in every rollup. Returns the stored ones. */
export async function addResults(
  transaction: Database,
  results: readonly StoredResult[],
  { hasSeries, hasPayloads = false }: IsThere,
): Promise<readonly StoredResult[]> {
  const stored = await claimRequestKeys(transaction, results);
  if (hasPayloads && stored.length < results.length) {
    const storedIds = new Set(stored.map(({ id }) => id));
    await deletePayloads(
      transaction,
      results.map(({ id }) => id).filter((id) => !storedIds.has(id)),
    );
  }
  const { series, counts } = countResults(stored);
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

/** The results as they are stored. */
export function numberResults(
  records: readonly EvaluationRecord[],
  { ids, createdAt, earlier }: Numbers & Partial<Written>,
): StoredResult[] {
  return records.map((record, index) => {
    const id = ids[index];
    if (id === undefined) throw new Error("There are fewer numbers than results");
    return earlier?.get(index) ?? { ...record, id, createdAt };
  });
}

async function findEarlier(
  database: Database,
  results: readonly StoredResult[],
  stored: readonly StoredResult[],
): Promise<Map<number, StoredResult>> {
  const earlier = new Map<number, StoredResult>();
  if (stored.length === results.length) return earlier;
  const storedIds = new Set(stored.map(({ id }) => id));
  const duplicates = results.flatMap(({ id, accountId, requestKey: key = "" }, index) =>
    storedIds.has(id) ? [] : [{ index, accountId, key }],
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
