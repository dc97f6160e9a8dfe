import { insertRows } from "../../storage/insert-rows.ts";
import type { Database } from "../../storage/tables.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { toPayloadRow, toResultRow, toTagRows } from "./to-rows.ts";

const unlessKeyIsTaken = `on conflict (account_id, request_key) where request_key is not null do nothing returning id`;

/**
 * Inserts results but those whose request key another one of the account has, and returns the ones that it inserted. So a twin
 * costs nobody who shares the transaction anything.
 */
export async function insertResults(
  transaction: Database,
  results: readonly KeptResult[],
): Promise<readonly KeptResult[]> {
  const inserted = await insertNarrowRows(transaction, results);
  await insertRows(transaction, "evaluation_payloads", inserted.map(toPayloadRow));
  await insertRows(transaction, "evaluation_tags", inserted.flatMap(toTagRows));
  return inserted;
}

async function insertNarrowRows(
  transaction: Database,
  results: readonly KeptResult[],
): Promise<readonly KeptResult[]> {
  const { keyed = [], others = [] } = Object.groupBy(results, ({ requestKey }) =>
    requestKey === undefined ? "others" : "keyed",
  );
  // Of two transactions with the same keys the second waits for the first: all in one order, so that none waits in a circle.
  keyed.sort((a, b) => ((a.requestKey ?? "") < (b.requestKey ?? "") ? -1 : 1));
  const rows = await insertRows(transaction, "evaluation_results", keyed.map(toResultRow), unlessKeyIsTaken);
  const ids = new Set(rows.map(({ id }) => id));
  await insertRows(transaction, "evaluation_results", others.map(toResultRow));
  if (ids.size === keyed.length) return results;
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
