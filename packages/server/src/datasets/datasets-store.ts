import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import { deleteSharesOf, insertRows, unlessNameIsTaken } from "../platform/storage/rows.ts";
import type { DatasetsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";

export type StoredDataset = Omit<DatasetsTable, "account_id">;

const columns = [
  "id",
  "name",
  "description",
  "tags",
  "change",
  "last_revision",
  "created_by",
  "created_at",
] as const;

/** Stores a dataset, unless its account has one of this name. Returns whether it did. */
export async function insertDataset(transaction: Database, row: DatasetsTable) {
  return (await insertRows(transaction, "datasets", [row], unlessNameIsTaken)).length > 0;
}

/** An account's dataset by its id, or by its name. */
export async function selectDataset(
  database: Database,
  accountId: string,
  wanted: string,
  by: "id" | "name" = "id",
): Promise<StoredDataset | undefined> {
  return await database
    .selectFrom("datasets")
    .select(columns)
    .where(by, "=", wanted)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** An account's datasets, newest first. */
export async function selectDatasets(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<ListPart<StoredDataset>> {
  const query = reader.selectFrom("datasets").select(columns).where("account_id", "=", accountId);
  return await selectNewestFirst(query, page);
}

/** Reads a dataset's latest revision number; until the transaction ends, no other one changes it or deletes the dataset. */
export async function lockDataset(transaction: Database, accountId: string, id: string) {
  return await transaction
    .selectFrom("datasets")
    .select(["name", "change", "last_revision"])
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .executeTakeFirst();
}

export async function updateLastRevision(transaction: Database, id: string, number: number) {
  await transaction.updateTable("datasets").set({ last_revision: number }).where("id", "=", id).execute();
}

export async function deleteDatasetRow(transaction: Database, accountId: string, id: string) {
  await transaction.deleteFrom("datasets").where("id", "=", id).where("account_id", "=", accountId).execute();
}

/** How many runs name a dataset. */
export async function countRunsOf(database: Database, accountId: string, datasetId: string) {
  const { count } = await database
    .selectFrom("runs")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where(namesDataset(accountId, datasetId))
    .where("status", "!=", "deleted")
    .executeTakeFirstOrThrow();
  return count;
}

/** Makes the runs of a dataset invisible. Links to them end. */
export async function discardRunsOf(transaction: Database, accountId: string, datasetId: string) {
  const runs = await transaction
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where(namesDataset(accountId, datasetId))
    .returning("id")
    .execute();
  await deleteSharesOf(
    transaction,
    accountId,
    runs.map(({ id }) => id),
  );
}

/** Runs of its samples, and those whose baseline learns from it. */
function namesDataset(accountId: string, datasetId: string): RawBuilder<SqlBool> {
  const learnsFrom = `%"datasetId":${JSON.stringify(datasetId)}%`;
  return sql<SqlBool>`account_id = ${accountId}
    and (dataset_id = ${datasetId} or (target_kind = 'baseline' and target like ${learnsFrom}))`;
}
