import { isPostgres } from "../platform/storage/is-postgres.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/keyset.ts";
import type { DatasetsTable } from "../platform/storage/schema/datasets.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

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
export async function insertDataset(transaction: Database, row: DatasetsTable): Promise<boolean> {
  const inserted = await transaction
    .insertInto("datasets")
    .values(row)
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function selectDataset(
  database: Database,
  accountId: string,
  id: string,
): Promise<StoredDataset | undefined> {
  return await database
    .selectFrom("datasets")
    .select(columns)
    .where("id", "=", id)
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
export async function lockDataset(
  transaction: Database,
  accountId: string,
  id: string,
): Promise<Pick<DatasetsTable, "name" | "change" | "last_revision"> | undefined> {
  return await transaction
    .selectFrom("datasets")
    .select(["name", "change", "last_revision"])
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .executeTakeFirst();
}

export async function updateLastRevision(transaction: Database, id: string, number: number): Promise<void> {
  await transaction.updateTable("datasets").set({ last_revision: number }).where("id", "=", id).execute();
}

export async function deleteDatasetRow(transaction: Database, accountId: string, id: string): Promise<void> {
  await transaction.deleteFrom("datasets").where("id", "=", id).where("account_id", "=", accountId).execute();
}
