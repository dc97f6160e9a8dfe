import { sql } from "kysely";
import { insertRows } from "../../../storage/insert-rows.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { StoredResult } from "./evaluation-record.ts";
import { toPayloadRow } from "./result-rows.ts";

/** Fewer than SQLite takes parameters in a statement. */
const idsAtOnce = 10_000;

export async function insertPayloads(database: Database, results: readonly StoredResult[]): Promise<void> {
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

const textsAhead = "texts_ahead/";

/** Notes that texts will be stored under these numbers before their results are, so that they are found if those never follow. */
export async function noteTextsAhead(transaction: Database, ids: readonly number[]): Promise<void> {
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
 * Deletes the texts that a process stored ahead and whose results never followed. One that is still about to store them notices, and
 * stores them again.
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
      await transaction
        .deleteFrom("evaluation_payloads")
        .where("result_id", ">=", Number(name.slice(textsAhead.length)))
        .where("result_id", "<=", Number(value))
        .where(sql<boolean>`not exists (select 1 from evaluation_results where id = result_id)`)
        .execute();
      await transaction.deleteFrom("settings").where("name", "=", name).execute();
    });
  }
}
