import { type SqlBool, sql } from "kysely";
import type { Micros } from "../../platform/storage/micros.ts";
import type { ResultDeletionsTable } from "../../platform/storage/schema/deletion.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

export async function insertDeletion(database: Database, row: ResultDeletionsTable): Promise<void> {
  await database.insertInto("result_deletions").values(row).execute();
}

export async function selectDeletion(
  database: Database,
  accountId: string,
  id: string,
): Promise<ResultDeletionsTable | undefined> {
  return await database
    .selectFrom("result_deletions")
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** As the index of these rows has it. */
const isUnfinished = sql<SqlBool>`finished_at is null`;

/** The deletion that waits longest. */
export async function selectNextDeletion(database: Database): Promise<ResultDeletionsTable | undefined> {
  return await database
    .selectFrom("result_deletions")
    .selectAll()
    .where(isUnfinished)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

/** A deletion has dealt with results up to a number. In the transaction that deletes them, so that they are counted once. */
export async function advanceDeletion(
  transaction: Database,
  id: string,
  { afterId, deleted, finishedAt }: { afterId: number; deleted: number; finishedAt: Micros | null },
): Promise<void> {
  await transaction
    .updateTable("result_deletions")
    .set((of) => ({ after_id: afterId, deleted: of("deleted", "+", deleted), finished_at: finishedAt }))
    .where("id", "=", id)
    .where(isUnfinished)
    .execute();
}

/** How deletions ended can be read for some time. */
export async function forgetDeletions(database: Database, before: Micros): Promise<void> {
  await database.deleteFrom("result_deletions").where("finished_at", "<", before).execute();
}
