import { type Insertion, insertRows, insertTogether } from "../../../storage/insert-rows.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { StoredResult } from "../record/evaluation-record.ts";
import { toPayloadRow, toResultRow, toTagRows } from "../record/result-rows.ts";

const unlessKeyIsTaken =
  "on conflict (account_id, request_key) where request_key is not null do nothing returning id";

/**
 * Inserts the rows by which results are known under a request key, unless another result of the account has it, and returns all results
 * but those. So a twin costs nobody who shares the transaction anything.
 */
export async function claimRequestKeys(
  transaction: Database,
  results: readonly StoredResult[],
): Promise<readonly StoredResult[]> {
  const keyed = results.filter(({ requestKey }) => requestKey !== undefined);
  if (keyed.length === 0) return results;
  // Of two transactions with the same keys the second waits for the first: all in one order, so that none waits in a circle.
  keyed.sort((a, b) => ((a.requestKey ?? "") < (b.requestKey ?? "") ? -1 : 1));
  const rows = await insertRows(transaction, "evaluation_results", keyed.map(toResultRow), unlessKeyIsTaken);
  if (rows.length === keyed.length) return results;
  const ids = new Set(rows.map(({ id }) => id));
  return results.filter(({ id, requestKey }) => requestKey === undefined || ids.has(id));
}

/** The id, if the account has a result of it. */
export async function selectOwnId(
  reader: Database,
  accountId: string,
  id: number,
): Promise<number | undefined> {
  const row = await reader
    .selectFrom("evaluation_results")
    .select("id")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.id;
}

/** Inserts results whose request keys are claimed, with their texts unless those are there, and what else there is. */
export async function insertResults(
  transaction: Database,
  results: readonly StoredResult[],
  others: readonly Insertion[],
  { hasPayloads }: { hasPayloads: boolean },
): Promise<void> {
  const unclaimed = results.filter(({ requestKey }) => requestKey === undefined);
  await insertTogether(transaction, [
    { table: "evaluation_results", rows: unclaimed.map(toResultRow) },
    { table: "evaluation_payloads", rows: hasPayloads ? [] : results.map(toPayloadRow) },
    { table: "evaluation_tags", rows: results.flatMap(toTagRows) },
    ...others,
  ]);
}
