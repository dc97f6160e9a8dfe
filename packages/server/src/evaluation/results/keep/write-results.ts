import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { countErrorFindings } from "../error-findings/count-error-findings.ts";
import { addErrorFindings } from "../error-findings/error-findings-store.ts";
import type { EvaluationRecord, StoredResult } from "../record/evaluation-record.ts";
import { deletePayloads } from "../record/payloads-store.ts";
import { selectByRequestKeys } from "../record/stored-results-store.ts";
import { createKnownSeries } from "../summary/known-series.ts";
import { countResults, seriesOf } from "./count-results.ts";
import { type Numbers, takeNumbers } from "./numbers-store.ts";
import { claimRequestKeys, insertResults } from "./results-store.ts";
import { addCounts, addSeries } from "./rollup-writes-store.ts";

/** The numbers of results that were kept together, in their order, and when that was. */
export interface Written extends Numbers {
  /** What is kept in the place of records whose request key another result had, by their place among the records. */
  earlier: ReadonlyMap<number, StoredResult>;
}

/** Keeps results and counts them, all or nothing. Returns once they are on disk. */
export type WriteResults = (records: readonly EvaluationRecord[]) => Promise<Written>;

export function createWriteResults(database: Database): WriteResults {
  const ensureSeries = createKnownSeries(database);
  return async (records) => {
    // SQLite has one writer at a time, who may as well do it inside.
    const isAhead = isPostgres(database);
    if (isAhead) await ensureSeries(seriesOf(records));
    return await storeResults(database, records, async (transaction) => ({
      numbers: await takeNumbers(transaction, records.length),
      isThere: { hasSeries: isAhead },
    }));
  };
}

/** What of some results is in the store before they are. */
interface IsThere {
  hasSeries: boolean;
  hasPayloads?: boolean;
}

/** Stores results and counts them in one transaction, under the numbers that `prepare` has for them. */
export async function storeResults(
  database: Database,
  records: readonly EvaluationRecord[],
  prepare: (transaction: Database) => Promise<{ numbers: Numbers; isThere: IsThere }>,
): Promise<Written> {
  return await database.transaction().execute(async (transaction) => {
    const { numbers, isThere } = await prepare(transaction);
    const kept = await addResults(transaction, numberEach(records, numbers), isThere);
    // Before the commit: once that is done, nothing may fail.
    return { ...numbers, earlier: await findEarlier(transaction, records, numbers, kept) };
  });
}

/** Stores results and counts them in every rollup, but those whose request key is taken. Returns the ones that it stored. */
export async function addResults(
  transaction: Database,
  results: readonly StoredResult[],
  { hasSeries, hasPayloads = false }: IsThere,
): Promise<readonly StoredResult[]> {
  const kept = await claimRequestKeys(transaction, results);
  if (hasPayloads && kept.length < results.length)
    await deletePayloads(transaction, idsOfOthers(results, kept));
  const { series, counts } = countResults(kept);
  const findings = countErrorFindings(kept);
  if (!hasSeries) await addSeries(transaction, series);
  if (isPostgres(transaction)) {
    await insertResults(
      transaction,
      kept,
      [
        { table: "evaluation_count_deltas", rows: counts },
        { table: "error_finding_count_deltas", rows: findings },
      ],
      { hasPayloads },
    );
  } else {
    await insertResults(transaction, kept, [], { hasPayloads });
    await addCounts(transaction, counts);
    await addErrorFindings(transaction, findings);
  }
  return kept;
}

function idsOfOthers(results: readonly StoredResult[], kept: readonly StoredResult[]): number[] {
  const keptIds = new Set(kept.map(({ id }) => id));
  return results.map(({ id }) => id).filter((id) => !keptIds.has(id));
}

/** The results as they are kept. */
export function numberResults(records: readonly EvaluationRecord[], written: Written): StoredResult[] {
  return records.map(
    (record, index) => written.earlier.get(index) ?? { ...record, ...numberAt(written, index) },
  );
}

export function numberEach(records: readonly EvaluationRecord[], numbers: Numbers): StoredResult[] {
  return records.map((record, index) => ({ ...record, ...numberAt(numbers, index) }));
}

function numberAt({ ids, createdAt }: Numbers, index: number): Pick<StoredResult, "id" | "createdAt"> {
  const id = ids[index];
  if (id === undefined) throw new Error("There are fewer numbers than results");
  return { id, createdAt };
}

async function findEarlier(
  database: Database,
  records: readonly EvaluationRecord[],
  { ids }: Numbers,
  kept: readonly StoredResult[],
): Promise<Map<number, StoredResult>> {
  const earlier = new Map<number, StoredResult>();
  if (kept.length === records.length) return earlier;
  const keptIds = new Set(kept.map(({ id }) => id));
  const twins = records.flatMap((record, index) =>
    keptIds.has(ids[index] ?? 0)
      ? []
      : [{ index, accountId: record.accountId, key: record.requestKey ?? "" }],
  );
  for (const [accountId, some] of Map.groupBy(twins, (twin) => twin.accountId)) {
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
