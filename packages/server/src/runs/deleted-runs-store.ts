import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "../platform/storage/schema/tables.ts";

/** How many runs name a dataset. */
export async function countRunsOf(database: Database, accountId: string, datasetId: string): Promise<number> {
  const { count } = await database
    .selectFrom("runs")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where(namesDataset(accountId, datasetId))
    .where("status", "!=", "deleted")
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Runs of its samples, and those whose baseline learns from it. */
function namesDataset(accountId: string, datasetId: string): RawBuilder<SqlBool> {
  const learnsFrom = `%"datasetId":${JSON.stringify(datasetId)}%`;
  return sql<SqlBool>`account_id = ${accountId}
    and (dataset_id = ${datasetId} or (target_kind = 'baseline' and target like ${learnsFrom}))`;
}

/** Makes a run invisible, so that no process works on it and its rows may be deleted. Returns whether there was one. */
export async function discardRun(database: Database, accountId: string, id: string): Promise<boolean> {
  const row = await database
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** The same for all runs of a dataset. */
export async function discardRunsOf(
  transaction: Database,
  accountId: string,
  datasetId: string,
): Promise<void> {
  await transaction
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where(namesDataset(accountId, datasetId))
    .execute();
}

/** The same for all runs of an account. */
export async function discardAllRuns(transaction: Database, accountId: string): Promise<void> {
  await transaction
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted")
    .execute();
}

/** A deleted run whose rows are still there. */
export async function selectDiscardedRun(database: Database): Promise<string | undefined> {
  const row = await database.selectFrom("runs").select("id").where(isDeleted).limit(1).executeTakeFirst();
  return row?.id;
}

export async function deleteRunRow(database: Database, id: string): Promise<void> {
  await database.deleteFrom("runs").where("id", "=", id).where("status", "=", "deleted").execute();
}

/** As the index of these rows has it: with a parameter, neither database would use it. */
const isDeleted = sql<SqlBool>`status = 'deleted'`;
