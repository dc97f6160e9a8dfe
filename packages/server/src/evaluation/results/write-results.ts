import type { Database, Micros } from "../../storage/tables.ts";
import { countErrorFindings } from "../taxonomies/count-error-findings.ts";
import { addErrorFindings } from "../taxonomies/error-findings-store.ts";
import { countResults } from "./count-results.ts";
import type { EvaluationRecord, KeptResult } from "./evaluation-record.ts";
import { addCounts, advanceClock, insertResults } from "./results-store.ts";

/** The number of the first of some results that were kept together, and when. The others' numbers follow. */
export interface Written {
  firstId: number;
  createdAt: Micros;
}

/** Keeps results and counts them, all or nothing. Returns once they are on disk. */
export type WriteResults = (records: readonly EvaluationRecord[]) => Promise<Written>;

export async function writeResults(
  database: Database,
  records: readonly EvaluationRecord[],
): Promise<Written> {
  return await database.transaction().execute(async (transaction) => {
    const written = await advanceClock(transaction, records.length);
    await addResults(transaction, numberResults(records, written));
    return written;
  });
}

/** Stores results and counts them in every rollup. */
export async function addResults(transaction: Database, results: readonly KeptResult[]): Promise<void> {
  await insertResults(transaction, results);
  await addCounts(transaction, countResults(results));
  await addErrorFindings(transaction, countErrorFindings(results));
}

/** The results with the numbers and the time that they were kept with. */
export function numberResults(records: readonly EvaluationRecord[], { firstId, createdAt }: Written) {
  return records.map((record, index) => ({ ...record, id: firstId + index, createdAt }));
}
