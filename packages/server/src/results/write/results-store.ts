import { sql } from "kysely";
import { type Insertion, insertRows, insertTogether } from "../../platform/storage/insert-rows.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { StoredResult } from "../evaluation-record.ts";
import { toPayloadRow, toResultRow, toTagRows } from "../result-rows.ts";

const unlessKeyIsTaken =
  "on conflict (account_id, request_key) where request_key is not null do nothing returning id";

/**
 * Inserts the rows of results with a request key unless another result of the account has that key, and returns all results except
 * those. A duplicate thus does not fail the transaction that others share with it.
 */
export async function claimRequestKeys(
  transaction: Database,
  results: readonly StoredResult[],
): Promise<readonly StoredResult[]> {
  const keyed = results.filter(({ requestKey }) => requestKey !== undefined);
  if (keyed.length === 0) return results;
  // Of two transactions with the same keys the second waits for the first: always in one order, to avoid deadlocks.
  keyed.sort((a, b) => ((a.requestKey ?? "") < (b.requestKey ?? "") ? -1 : 1));
  const rows = await insertRows(transaction, "evaluation_results", keyed.map(toResultRow), unlessKeyIsTaken);
  if (rows.length === keyed.length) return results;
  const ids = new Set(rows.map(({ id }) => id));
  return results.filter(({ id, requestKey }) => requestKey === undefined || ids.has(id));
}

/** Inserts results whose request keys are claimed, with their texts unless `hasPayloads`, together with other rows. */
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

export async function insertPayloads(database: Database, results: readonly StoredResult[]): Promise<void> {
  await insertRows(database, "evaluation_payloads", results.map(toPayloadRow));
}

/** How many of these results, whose numbers are consecutive, have their texts stored. */
export async function countPayloads(database: Database, ids: readonly number[]): Promise<number> {
  const { rows } = await database
    .selectFrom("evaluation_payloads")
    .select(({ fn }) => fn.count<number>("result_id").as("rows"))
    .where("result_id", ">=", ids.at(0) ?? 0)
    .where("result_id", "<=", ids.at(-1) ?? 0)
    .executeTakeFirstOrThrow();
  return rows;
}

/** Fewer than the parameters that SQLite allows in a statement. */
const idsAtOnce = 10_000;

/** Deletes texts that no result has. */
export async function deletePayloads(database: Database, ids: readonly number[]): Promise<void> {
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    await deleteUnusedPayloads(database)
      .where("result_id", "in", ids.slice(at, at + idsAtOnce))
      .execute();
  }
}

const textsAhead = "texts_ahead/";

/** Records that texts will be stored under these numbers before their results, so that they are found if the results never follow. */
export async function recordTextsAhead(transaction: Database, ids: readonly number[]): Promise<void> {
  await transaction
    .insertInto("settings")
    .values({ name: `${textsAhead}${ids.at(0)}`, value: String(ids.at(-1)) })
    .execute();
}

export async function forgetTextsAhead(transaction: Database, ids: readonly number[]): Promise<void> {
  await transaction
    .deleteFrom("settings")
    .where("name", "=", `${textsAhead}${ids.at(0)}`)
    .execute();
}

/**
 * Deletes texts that a process stored ahead and whose results never followed. A process that is still about to store the results
 * notices, and stores the texts again.
 */
export async function sweepPayloads(database: Database): Promise<void> {
  const left = await database
    .selectFrom("settings")
    .selectAll()
    .where("name", ">=", textsAhead)
    .where("name", "<", `${textsAhead}~`)
    .execute();
  for (const { name, value } of left) {
    await database.transaction().execute(async (transaction) => {
      await deleteUnusedPayloads(transaction)
        .where("result_id", ">=", Number(name.slice(textsAhead.length)))
        .where("result_id", "<=", Number(value))
        .execute();
      await transaction.deleteFrom("settings").where("name", "=", name).execute();
    });
  }
}

function deleteUnusedPayloads(database: Database) {
  return database
    .deleteFrom("evaluation_payloads")
    .where(sql<boolean>`not exists (select 1 from evaluation_results where id = result_id)`);
}
