import { insertRows } from "../platform/storage/rows.ts";
import type {
  EvaluationPayloadsTable,
  EvaluationResultsTable,
  EvaluationTagsTable,
} from "../platform/storage/schema/results.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { addErrorFindings, countErrorFindings } from "./error-findings-store.ts";
import { addCounted, countResults, toCountable, withFindings } from "./write/counts-store.ts";
import { addTimes } from "./write/results-store.ts";

/**
 * Stores results as they were in another database, under numbers that are taken, and counts them with the verdicts that count. Returns
 * the ids of those that were not there; if any was, nothing else is stored.
 */
export async function storeImportedResults(
  transaction: Database,
  results: readonly { row: EvaluationResultsTable; texts: EvaluationPayloadsTable }[],
): Promise<{ id: number }[]> {
  const rows = results.map(({ row }) => row);
  const texts = results.map((result) => result.texts);
  const ending = "on conflict do nothing returning id";
  const stored = await insertRows(transaction, "evaluation_results", rows, ending);
  const ids = stored.map(({ id = 0 }) => ({ id }));
  if (ids.length < rows.length) return ids;
  await insertRows(transaction, "evaluation_payloads", texts);
  await insertRows(transaction, "evaluation_tags", results.flatMap(toTags));
  const counted = results.map(({ row, texts: { additional_info } }) =>
    withFindings(toCountable(row), additional_info),
  );
  await addTimes(
    transaction,
    rows.map(({ id, created_at }) => ({ id, createdAt: created_at })),
  );
  await addCounted(transaction, countResults(counted));
  await addErrorFindings(transaction, countErrorFindings(counted));
  return ids;
}

function toTags({
  row: { id, account_id },
  texts: { tags },
}: {
  row: EvaluationResultsTable;
  texts: EvaluationPayloadsTable;
}): EvaluationTagsTable[] {
  const named = JSON.parse(tags ?? "{}") as Record<string, string>;
  return Object.entries(named).map(([name, value]) => ({ account_id, name, value, result_id: id }));
}
