import { setTimeout as sleep } from "node:timers/promises";
import { createWritePace, pauseMs } from "../platform/storage/batches.ts";
import { microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import type { DatasetRevisionsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteSomeRows } from "./samples-store.ts";

const columns = [
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

type Row = Pick<DatasetRevisionsTable, Exclude<(typeof columns)[number], "id">> & { id: number };
type SetBySealingName = "number" | "digest" | "trajectories" | "import";
type SetBySealing = Pick<DatasetRevisionsTable, Exclude<SetBySealingName, "import">>;

/** A revision that is complete. */
export type Revision = Omit<Row, keyof SetBySealing> & {
  [Name in keyof SetBySealing]: NonNullable<SetBySealing[Name]>;
} & {
  /** Of an upload: what was passed over. */
  warnings?: string[] | undefined;
};

function sealed({ number, digest, trajectories, ...row }: Row): Revision {
  if (number === null || digest === null || trajectories === null)
    throw new Error("A sealed revision lacks what sealing sets");
  return { ...row, number, digest, trajectories };
}

/** The revisions of a dataset that are complete. */
function sealedOf(database: Database, datasetId: string) {
  return database
    .selectFrom("dataset_revisions")
    .select(columns)
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

/** The revision of a dataset with these lines. */
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
    .select(columns.map((column) => `dataset_revisions.${column}` as const))
    .where("dataset_revisions.dataset_id", "in", ids)
    .where("state", "=", "sealed")
    .execute();
  return new Map(rows.map((row) => [row.dataset_id, sealed(row)]));
}

/** A dataset's revisions below a number, the highest first. */
export async function selectRevisions(
  reader: Database,
  datasetId: string,
  { limit, below }: { limit: number; below: number | undefined },
): Promise<Revision[]> {
  let query = sealedOf(reader, datasetId);
  if (below !== undefined) query = query.where("number", "<", below);
  return (await query.orderBy("number", "desc").limit(limit).execute()).map(sealed);
}

/** Begins a revision that is invisible until it is sealed. Returns its id. */
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

/** Counts what is added to a revision, and shows that it is not abandoned. Returns whether it is still being filled. */
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

/** The bytes of all revisions of an account, those that are being filled included. */
export async function sumOfBytes(database: Database, accountId: string) {
  const { bytes } = await database
    .selectFrom("dataset_revisions")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("bytes"), of.lit(0)).as("bytes"))
    .where("account_id", "=", accountId)
    .where("state", "in", ["filling", "sealed"])
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Makes a revision visible. Returns undefined if it was swept. */
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
    .returning(columns)
    .executeTakeFirst();
  return row && sealed(row);
}

const discarded = (database: Database) =>
  database.updateTable("dataset_revisions").set({ state: "deleted", bytes: 0 });

/** Abandons a revision that is being filled, so that its rows may be deleted. */
export async function discardRevision(database: Database, id: number) {
  await discarded(database).where("id", "=", id).where("state", "=", "filling").execute();
}

/** The same for all revisions of a dataset. Returns the ids of their rows. */
export async function discardRevisions(transaction: Database, datasetId: string) {
  const rows = await discarded(transaction).where("dataset_id", "=", datasetId).returning("id").execute();
  return rows.map(({ id }) => id);
}

/** One revision whose rows are to be deleted. */
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

/** An upload in progress shows every minute that it is. */
const abandonedAfterMs = 10 * 60_000;

/** Deletes the rows of deleted revisions and of abandoned uploads, a few at a time, until there are none or `signal` is aborted. */
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
