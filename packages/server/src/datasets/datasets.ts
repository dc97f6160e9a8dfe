import type { DatasetChange } from "@presage/contract";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { type Keyset, type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { DatasetsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres, type Requester } from "../platform/storage/store.ts";
import { countOf } from "../platform/words.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { countRunsOf, discardRunsOf } from "../runs/runs-store.ts";
import {
  discardRevisions,
  type Revision,
  selectLatestRevisions,
  selectRevision,
  selectRevisions,
} from "./revisions-store.ts";

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
async function insertDataset(transaction: Database, row: DatasetsTable): Promise<boolean> {
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
async function selectDatasets(
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

async function deleteDatasetRow(transaction: Database, accountId: string, id: string): Promise<void> {
  await transaction.deleteFrom("datasets").where("id", "=", id).where("account_id", "=", accountId).execute();
}

export interface DatasetWithRevision {
  dataset: StoredDataset;
  latest: Revision | undefined;
}

type Services = Pick<EvaluationServices, "store">;

export async function findDataset(
  { store }: Services,
  requester: Requester,
  id: string,
): Promise<DatasetWithRevision> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw noSuchDataset();
  return { dataset, latest: (await selectLatestRevisions(reader, [dataset])).get(id) };
}

/** A revision of a dataset by its number, or the latest. */
export async function findRevision(
  { store }: Services,
  requester: Requester,
  { id, number }: { id: string; number: number | undefined },
): Promise<Revision> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw noSuchDataset();
  const revision = await selectRevision(reader, id, number);
  if (revision !== undefined) return revision;
  const message =
    number === undefined ? "The dataset has no revision yet." : `The dataset has no revision ${number}.`;
  throw new ServiceError("not_found", message);
}

/** What was read of a revision; throws if it was deleted meanwhile, as some of it may have been missing. */
export async function unlessDeleted<Found>(
  reading: Promise<Found>,
  services: Services,
  requester: Requester,
  wanted: { id: string; number: number | undefined },
): Promise<Found> {
  const found = await reading;
  await findRevision(services, requester, wanted);
  return found;
}

export function noSuchDataset(): ServiceError {
  return new ServiceError("not_found", "There is no such dataset.");
}

export interface NewDataset {
  name: string;
  description: string | undefined;
  tags: Readonly<Record<string, string>> | undefined;
  change?: DatasetChange | undefined;
  userId: string;
}

export async function createDataset(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { name, description, tags, change, userId }: NewDataset,
  once?: Once,
): Promise<StoredDataset> {
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const dataset = {
        id: Bun.randomUUIDv7(),
        name,
        description: description ?? null,
        tags: tags === undefined ? null : JSON.stringify(tags),
        change: change === undefined ? null : JSON.stringify(change),
        last_revision: 0,
        created_by: userId,
        created_at: nowMicros(),
      };
      if (!(await insertDataset(transaction, { ...dataset, account_id: accountId })))
        throw new ServiceError("conflict", `There is already a dataset named ${JSON.stringify(name)}.`);
      await recordChange(transaction, requester, {
        action: "dataset.create",
        objectId: dataset.id,
        detail: { name },
      });
      return dataset;
    },
    toReceipt: ({ id }) => ({ id }),
    async recall({ id }) {
      const dataset = await selectDataset(store.database, accountId, id);
      if (dataset === undefined) throw noSuchDataset();
      // It may have revisions by now. A repeated request has the response of the first.
      return { ...dataset, last_revision: 0 };
    },
  });
}

/** Deletes a dataset, and its runs if wanted. Its samples are invisible at once, and their rows are deleted a few at a time by the sweeper. */
export async function deleteDataset(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { id, withRuns }: { id: string; withRuns: boolean },
): Promise<void> {
  const { accountId } = requester;
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      // A revision that is being sealed is either sealed before this, or finds no dataset.
      const dataset = await lockDataset(transaction, accountId, id);
      if (dataset === undefined) throw noSuchDataset();
      const runs = withRuns ? 0 : await countRunsOf(transaction, accountId, id);
      if (runs > 0)
        throw new ServiceError(
          "conflict",
          `${countOf(runs, "run")} of the dataset would lose what they are about. Delete them first, or send with_runs=true.`,
        );
      await discardRunsOf(transaction, accountId, id);
      await discardRevisions(transaction, id);
      await deleteDatasetRow(transaction, accountId, id);
      await recordChange(transaction, requester, {
        action: "dataset.delete",
        objectId: id,
        detail: { name: dataset.name, with_runs: withRuns },
      });
    });
}

/** One page of an account's datasets, newest first, with the latest revision of each. */
export async function listDatasets(
  { store }: Services,
  requester: Requester,
  page: KeysetPage,
): Promise<{ datasets: DatasetWithRevision[]; next: Keyset | undefined }> {
  const reader = store.briefReader(requester);
  const { rows, next } = await selectDatasets(reader, requester.accountId, page);
  const latest = await selectLatestRevisions(reader, rows);
  return { datasets: rows.map((dataset) => ({ dataset, latest: latest.get(dataset.id) })), next };
}

/** One page of a dataset's revisions below a number, the highest first. */
export async function listRevisions(
  services: Services,
  requester: Requester,
  id: string,
  { limit, below }: { limit: number; below: number | undefined },
): Promise<{ revisions: Revision[]; next: number | undefined }> {
  const { dataset } = await findDataset(services, requester, id);
  const reader = services.store.briefReader(requester);
  const found = await selectRevisions(reader, dataset.id, { limit: limit + 1, below });
  const revisions = found.slice(0, limit);
  return { revisions, next: found.length > limit ? revisions.at(-1)?.number : undefined };
}
