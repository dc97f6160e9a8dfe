import { setTimeout as sleep } from "node:timers/promises";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { createWritePace, pauseMs } from "../platform/storage/batches.ts";
import { microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import {
  type KeysetPage,
  type ListPart,
  type NumberedPage,
  selectNewestFirst,
} from "../platform/storage/lists.ts";
import { deleteSharesOf, insertRows, unlessNameIsTaken } from "../platform/storage/rows.ts";
import type { DatasetRevisionsTable, DatasetsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { deleteSomeRows } from "./samples-store.ts";

export type StoredDataset = Omit<DatasetsTable, "account_id">;

/** A complete revision. */
export type Revision = Omit<RevisionRow, keyof SetBySealing> & {
  [Name in keyof SetBySealing]: NonNullable<SetBySealing[Name]>;
} & {
  /** What an upload left out. */
  warnings?: string[] | undefined;
};

type RevisionRow = Pick<DatasetRevisionsTable, Exclude<(typeof revisionColumns)[number], "id">> & {
  id: number;
};
type SetBySealingName = "number" | "digest" | "trajectories" | "import";
type SetBySealing = Pick<DatasetRevisionsTable, Exclude<SetBySealingName, "import">>;

const datasetColumns = [
  "id",
  "name",
  "description",
  "tags",
  "change",
  "last_revision",
  "created_by",
  "created_at",
] as const;

const revisionColumns = [
  "id",
  "dataset_id",
  "number",
  "digest",
  "samples",
  "trajectories",
  "bytes",
  "created_at",
  "import",
] as const;

/** Stores a dataset unless its account has one with this name. Returns whether it was stored. */
export async function insertDataset(transaction: Database, row: DatasetsTable) {
  return (await insertRows(transaction, "datasets", [row], unlessNameIsTaken)).length > 0;
}

/** An account's dataset by id or by name. */
export async function selectDataset(
  database: Database,
  accountId: string,
  wanted: string,
  by: "id" | "name" = "id",
): Promise<StoredDataset | undefined> {
  return await database
    .selectFrom("datasets")
    .select(datasetColumns)
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
  const query = reader.selectFrom("datasets").select(datasetColumns).where("account_id", "=", accountId);
  return await selectNewestFirst(query, page);
}

/** Reads a dataset's latest revision number; until the transaction ends, no other transaction changes it or deletes the dataset. */
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

/** How many runs use a dataset. */
export async function countRunsOf(database: Database, accountId: string, datasetId: string) {
  const { count } = await database
    .selectFrom("runs")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where(namesDataset(accountId, datasetId))
    .where("status", "!=", "deleted")
    .executeTakeFirstOrThrow();
  return count;
}

/** Makes the runs on a dataset invisible. Links to them stop working. */
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

/** Runs on the dataset, and runs whose baseline learns from it. */
function namesDataset(accountId: string, datasetId: string): RawBuilder<SqlBool> {
  const learnsFrom = `%"datasetId":${JSON.stringify(datasetId)}%`;
  return sql<SqlBool>`account_id = ${accountId}
    and (dataset_id = ${datasetId} or (target_kind = 'baseline' and target like ${learnsFrom}))`;
}

function sealed({ number, digest, trajectories, ...row }: RevisionRow): Revision {
  if (number === null || digest === null || trajectories === null)
    throw new Error("A sealed revision lacks what sealing sets");
  return { ...row, number, digest, trajectories };
}

/** The complete revisions of a dataset. */
function sealedOf(database: Database, datasetId: string) {
  return database
    .selectFrom("dataset_revisions")
    .select(revisionColumns)
    .where("dataset_id", "=", datasetId)
    .where("state", "=", "sealed");
}

/** A revision by its number, or the latest. */
export async function selectRevision(
  database: Database,
  datasetId: string,
  number: number | undefined,
): Promise<Revision | undefined> {
  let query = sealedOf(database, datasetId);
  if (number !== undefined) query = query.where("number", "=", number);
  const row = await query.orderBy("number", "desc").limit(1).executeTakeFirst();
  return row && sealed(row);
}

/** The revision of a dataset that has these lines. */
export async function selectRevisionByDigest(
  database: Database,
  datasetId: string,
  digest: string,
): Promise<Revision | undefined> {
  const row = await sealedOf(database, datasetId).where("digest", "=", digest).executeTakeFirst();
  return row && sealed(row);
}

export async function selectLatestRevisions(
  database: Database,
  datasets: readonly { id: string; last_revision: number }[],
): Promise<Map<string, Revision>> {
  const ids = datasets.filter(({ last_revision }) => last_revision > 0).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom("dataset_revisions")
    .innerJoin("datasets", (join) =>
      join
        .onRef("datasets.id", "=", "dataset_revisions.dataset_id")
        .onRef("datasets.last_revision", "=", "dataset_revisions.number"),
    )
    .select(revisionColumns.map((column) => `dataset_revisions.${column}` as const))
    .where("dataset_revisions.dataset_id", "in", ids)
    .where("state", "=", "sealed")
    .execute();
  return new Map(rows.map((row) => [row.dataset_id, sealed(row)]));
}

/** A page of a dataset's revisions, plus one more. */
export async function selectRevisions(
  reader: Database,
  datasetId: string,
  { limit, below }: NumberedPage,
): Promise<Revision[]> {
  let query = sealedOf(reader, datasetId);
  if (below !== undefined) query = query.where("number", "<", below);
  return (
    await query
      .orderBy("number", "desc")
      .limit(limit + 1)
      .execute()
  ).map(sealed);
}

/** Begins a revision, which is invisible until it is sealed. Returns its id. */
export async function insertFillingRevision(database: Database, accountId: string, datasetId: string) {
  const now = nowMicros();
  const { id } = await database
    .insertInto("dataset_revisions")
    .values({
      account_id: accountId,
      dataset_id: datasetId,
      state: "filling",
      number: null,
      digest: null,
      trajectories: null,
      samples: 0,
      bytes: 0,
      created_at: now,
      touched_at: now,
      import: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Counts what is added to a revision, and shows that it is not abandoned. Returns whether the revision is still being filled. */
export async function growRevision(
  database: Database,
  id: number,
  { samples, bytes }: { samples: number; bytes: number },
) {
  const grown = await database
    .updateTable("dataset_revisions")
    .set((of) => ({
      samples: of("samples", "+", samples),
      bytes: of("bytes", "+", bytes),
      touched_at: nowMicros(),
    }))
    .where("id", "=", id)
    .where("state", "=", "filling")
    .returning("id")
    .executeTakeFirst();
  return grown !== undefined;
}

/** The bytes of all revisions of an account, including those that are being filled. */
export async function sumOfBytes(database: Database, accountId: string) {
  const { bytes } = await database
    .selectFrom("dataset_revisions")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("bytes"), of.lit(0)).as("bytes"))
    .where("account_id", "=", accountId)
    .where("state", "in", ["filling", "sealed"])
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Makes a revision visible. Returns undefined if the sweeper has discarded it. */
export async function sealRevision(
  transaction: Database,
  id: number,
  { number, digest, trajectories, import: read }: Pick<Revision, SetBySealingName>,
): Promise<Revision | undefined> {
  const row = await transaction
    .updateTable("dataset_revisions")
    .set({ state: "sealed", number, digest, trajectories, import: read, created_at: nowMicros() })
    .where("id", "=", id)
    .where("state", "=", "filling")
    .returning(revisionColumns)
    .executeTakeFirst();
  return row && sealed(row);
}

const discarded = (database: Database) =>
  database.updateTable("dataset_revisions").set({ state: "deleted", bytes: 0 });

/** Abandons a revision that is being filled, so that its rows may be deleted. */
export async function discardRevision(database: Database, id: number) {
  await discarded(database).where("id", "=", id).where("state", "=", "filling").execute();
}

/** Abandons all revisions of a dataset. Returns the ids of their rows. */
export async function discardRevisions(transaction: Database, datasetId: string) {
  const rows = await discarded(transaction).where("dataset_id", "=", datasetId).returning("id").execute();
  return rows.map(({ id }) => id);
}

/** Abandons a sealed revision that no run is about; its number and its digest are free again. Returns whether it was abandoned. */
export async function withdrawRevision(transaction: Database, id: number) {
  const withdrawn = await discarded(transaction)
    .set({ number: null, digest: null })
    .where("id", "=", id)
    .where("state", "=", "sealed")
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom("runs")
            .select("runs.id")
            .where("runs.revision_id", "=", id)
            .where("runs.status", "!=", "deleted"),
        ),
      ),
    )
    .returning("id")
    .executeTakeFirst();
  return withdrawn !== undefined;
}

/** Those of some revisions, by their rows' ids, that are complete and not being deleted. */
export async function selectSealed(reader: Database, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const sealed = reader.selectFrom("dataset_revisions").select("id").where("state", "=", "sealed");
  const rows = await sealed.where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** A revision whose rows are to be deleted. */
async function selectDiscarded(database: Database) {
  const row = await database
    .selectFrom("dataset_revisions")
    .select("id")
    .where("state", "=", "deleted")
    .orderBy("touched_at")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

async function deleteRevisionRow(database: Database, id: number) {
  await database
    .deleteFrom("dataset_revisions")
    .where("id", "=", id)
    .where("state", "=", "deleted")
    .execute();
}

/** An upload in progress touches its revision every minute. */
const abandonedAfterMs = 10 * 60_000;

/** Deletes the rows of deleted revisions and of abandoned uploads, a few at a time, until none are left or `signal` is aborted. */
export async function sweepRevisions(database: Database, signal: AbortSignal): Promise<void> {
  const since = nowMicros() - abandonedAfterMs * microsPerMs;
  await discarded(database).where("state", "=", "filling").where("touched_at", "<", since).execute();
  const pace = createWritePace(database);
  for (;;) {
    const id = await selectDiscarded(database);
    if (id === undefined) return;
    for (let isMore = true; isMore; ) {
      if (signal.aborted) return;
      const rows = pace.maxRows();
      await pace.write(rows, async () => {
        isMore = await deleteSomeRows(database, id, rows);
      });
      await sleep(pauseMs);
    }
    await deleteRevisionRow(database, id);
  }
}
