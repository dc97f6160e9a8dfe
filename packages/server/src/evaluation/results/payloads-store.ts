import { sql } from "kysely";
import { insertRows } from "../../storage/insert-rows.ts";
import type { Database } from "../../storage/tables.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { toPayloadRow } from "./to-rows.ts";

/** Fewer than SQLite takes parameters in a statement. */
const idsAtOnce = 10_000;

export async function insertPayloads(database: Database, results: readonly KeptResult[]): Promise<void> {
  await insertRows(database, "evaluation_payloads", results.map(toPayloadRow));
}

/** How many of these results, whose numbers follow each other, have their texts stored. */
export async function countPayloads(database: Database, ids: readonly number[]): Promise<number> {
  const { rows } = await database
    .selectFrom("evaluation_payloads")
    .select(({ fn }) => fn.count<number>("result_id").as("rows"))
    .where("result_id", ">=", ids.at(0) ?? 0)
    .where("result_id", "<=", ids.at(-1) ?? 0)
    .executeTakeFirstOrThrow();
  return rows;
}

/** Deletes texts that no result has. */
export async function deletePayloads(database: Database, ids: readonly number[]): Promise<void> {
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    await database
      .deleteFrom("evaluation_payloads")
      .where("result_id", "in", ids.slice(at, at + idsAtOnce))
      .where(sql<boolean>`not exists (select 1 from evaluation_results where id = result_id)`)
      .execute();
  }
}

/** Deletes texts whose results are not there and cannot follow. */
export async function sweepPayloads(database: Database): Promise<void> {
  await database
    .deleteFrom("evaluation_payloads")
    .where("result_id", ">", sql<number>`(select coalesce(max(id), 0) from evaluation_results)`)
    .execute();
}
