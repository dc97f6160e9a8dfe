import type { RunStatus } from "@presage/contract";
import { type RawBuilder, type SqlBool, sql, type Updateable } from "kysely";
import { type Micros, nowMicros } from "../platform/storage/columns.ts";
import { type KeysetPage, selectNewestFirst } from "../platform/storage/lists.ts";
import { deleteSharesOf } from "../platform/storage/rows.ts";
import type { RunsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import {
  type HeldLease,
  isOfDeadProcess,
  type Run,
  type RunEvaluator,
  type RunTarget,
  type RunTries,
} from "./run.ts";

export const runColumns = [
  "id",
  "account_id",
  "name",
  "status",
  "status_reason",
  "paused_by",
  "target",
  "mode",
  "params",
  "evaluators",
  "repeats",
  "concurrency",
  "tags",
  "dataset_id",
  "revision_id",
  "revision",
  "samples",
  "predicted",
  "evaluated",
  "failed",
  "unpredicted",
  "truncated",
  "empty",
  "repaired",
  "tries",
  "provenance",
  "notes",
  "created_by",
  "api_key_id",
  "created_at",
  "started_at",
  "finished_at",
  "lease_id",
  "lease_until",
] as const;

type Row = Pick<RunsTable, (typeof runColumns)[number]>;

export function parseRun(row: Row): Run {
  const { dataset_id: datasetId, revision_id: revisionId, revision } = row;
  const { samples, predicted, evaluated, failed, unpredicted, truncated, empty, repaired } = row;
  const target = JSON.parse(row.target) as RunTarget;
  const hasDataset = datasetId !== null && revisionId !== null && revision !== null;
  return {
    ...row,
    // Deleted runs are never selected.
    status: row.status === "deleted" ? "cancelled" : row.status,
    status_reason: row.status_reason ?? whyNobodyWorks(row, target),
    target,
    params: row.params === null ? null : (JSON.parse(row.params) as Run["params"]),
    evaluators: JSON.parse(row.evaluators) as RunEvaluator[],
    tags: row.tags === null ? null : (JSON.parse(row.tags) as Run["tags"]),
    dataset: hasDataset ? { datasetId, revisionId, revision } : undefined,
    counts: { samples, predicted, evaluated, failed, unpredicted, truncated, empty, repaired },
    tries: row.tries === null ? null : (JSON.parse(row.tries) as RunTries),
    provenance: JSON.parse(row.provenance) as Run["provenance"],
    notes: JSON.parse(row.notes) as string[],
  };
}

/** A process that works on a run renews its lease of 30 seconds every eight, as long as the database accepts writes. */
const leftOfLeaseMicros = 12_000_000;
/** A new run is taken far sooner, if a process has room for it. */
const longQueuedMicros = 5_000_000;

function whyNobodyWorks(row: Row, { kind }: RunTarget): string | null {
  const { status, lease_until: until, created_at: createdAt } = row;
  const isFree = until === 0;
  if (status === "queued" && isFree && createdAt < nowMicros() - longQueuedMicros)
    return kind === "imported" ? "Waits for its predictions." : "Waits for a process that works on it.";
  const isWorkedOn = until > nowMicros() + leftOfLeaseMicros && !isOfDeadProcess(row.lease_id ?? "");
  // A run that was released will be taken in a moment.
  if (status !== "running" || isFree || isWorkedOn) return null;
  return "Waits for a process that works on it, or for the database, which may be full.";
}

/** No process works on a run that its client makes: its lease never runs out. */
export const never = Number.MAX_SAFE_INTEGER;

export interface InsertedRun {
  /** For a run that its client makes. */
  placement?: Pick<RunsTable, "project_id" | "metadata">;
  /** The lease of the process that works on the run from the beginning. */
  heldBy?: HeldLease | undefined;
}

/** The names of an account's runs since an instant. */
export async function selectNamesSince(
  transaction: Database,
  accountId: string,
  from: Micros,
): Promise<ReadonlySet<string>> {
  const rows = await transaction
    .selectFrom("runs")
    .select("name")
    .where("account_id", "=", accountId)
    .where("created_at", ">=", from)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** Inserts a run that no process works on yet, unless it is held. With a placement, no process ever will. */
export async function insertRun(transaction: Database, run: Run, { placement, heldBy }: InsertedRun = {}) {
  const { counts, dataset, clientEvaluators: _, ...columns } = run;
  await transaction
    .insertInto("runs")
    .values({
      ...columns,
      target_kind: kindOf(run.target),
      target: JSON.stringify(run.target),
      params: run.params && JSON.stringify(run.params),
      evaluators: JSON.stringify(run.evaluators),
      tags: run.tags && JSON.stringify(run.tags),
      dataset_id: dataset?.datasetId ?? null,
      revision_id: dataset?.revisionId ?? null,
      revision: dataset?.revision ?? null,
      project_id: placement?.project_id ?? null,
      metadata: placement?.metadata ?? null,
      ...counts,
      tries: run.tries && JSON.stringify(run.tries),
      provenance: JSON.stringify(run.provenance),
      notes: JSON.stringify(run.notes),
      lease_id: heldBy?.leaseId ?? null,
      lease_until: placement === undefined ? (heldBy?.until ?? 0) : never,
      headline: null,
    })
    .execute();
}

/** Names of an account's runs through a world that have not ended. */
export async function selectRunsThrough(database: Database, accountId: string, world: string) {
  const rows = await database
    .selectFrom("runs")
    .select(["name", "target"])
    .where("account_id", "=", accountId)
    .where("target_kind", "=", "world")
    .where("status", "in", ["queued", "running", "paused"])
    .orderBy("created_at")
    .execute();
  return rows.flatMap(({ name, target }) =>
    (JSON.parse(target) as { name: string }).name === world ? name : [],
  );
}

function kindOf({ kind }: RunTarget): RunsTable["target_kind"] {
  return kind === "no-change" || kind === "most-frequent" || kind === "retrieval" ? "baseline" : kind;
}

/** An account's finished runs, newest first. */
export function selectFinished(reader: Database, accountId: string) {
  return reader
    .selectFrom("runs")
    .where("account_id", "=", accountId)
    .where("status", "=", "finished")
    .orderBy("created_at", "desc")
    .orderBy("id", "desc");
}

const runOf = (database: Database, accountId: string, id: string) =>
  database
    .selectFrom("runs")
    .select(runColumns)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted");

export async function selectRun(database: Database, accountId: string, id: string): Promise<Run | undefined> {
  const row = await runOf(database, accountId, id).executeTakeFirst();
  return row && parseRun(row);
}

export interface RunFilter {
  datasetId?: string | undefined;
  status?: RunStatus | undefined;
  name?: string | undefined;
}

/** An account's runs, newest first, with their stored headlines. */
export async function selectRuns(
  reader: Database,
  accountId: string,
  { datasetId, status, name }: RunFilter,
  page: KeysetPage,
) {
  let query = reader
    .selectFrom("runs")
    .select([...runColumns, "headline"])
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted");
  if (datasetId !== undefined) query = query.where("dataset_id", "=", datasetId);
  if (status !== undefined) query = query.where("status", "=", status);
  if (name !== undefined) query = query.where("name", "=", name);
  const part = await selectNewestFirst(query, page);
  return { rows: part.rows.map((row) => ({ ...parseRun(row), headline: row.headline })), next: part.next };
}

/** Changes a run's status under a lock. Returns undefined unless it has one of these statuses. */
export async function updateStatus(
  database: Database,
  accountId: string,
  id: string,
  from: readonly RunStatus[],
  change: Updateable<
    Pick<RunsTable, "status_reason" | "paused_by" | "lease_id" | "provenance"> & {
      lease_until: RawBuilder<Micros> | Micros;
      status: RunStatus | RawBuilder<RunStatus>;
      finished_at: RawBuilder<Micros>;
    }
  >,
): Promise<Run | undefined> {
  const row = await database
    .updateTable("runs")
    .set(change as Updateable<RunsTable>)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("status", "in", from)
    .returning(runColumns)
    .executeTakeFirst();
  return row && parseRun(row);
}

/** The status of a resumed run: if its predictions were not, or only partly, uploaded, it waits for an upload again. */
export const resumedStatus: RawBuilder<RunStatus> = sql`
  case when target_kind = 'imported' and started_at is null and predicted + unpredicted < samples then 'queued' else 'running' end
`;

/** Reads a run and locks it until the transaction ends. */
export async function lockRun(
  transaction: Database,
  accountId: string,
  id: string,
): Promise<Run | undefined> {
  const row = await runOf(transaction, accountId, id)
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .executeTakeFirst();
  return row && parseRun(row);
}

/** Makes a run invisible, so that no process works on it and its rows may be deleted. Links to it end. Returns whether it existed. */
export async function discardRun(database: Database, accountId: string, id: string) {
  const row = await database
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted")
    .returning("id")
    .executeTakeFirst();
  if (row !== undefined) await deleteSharesOf(database, accountId, [row.id]);
  return row !== undefined;
}

/** The same for all runs of an account. */
export async function discardAllRuns(transaction: Database, accountId: string) {
  await transaction
    .updateTable("runs")
    .set({ status: "deleted", lease_id: null })
    .where("account_id", "=", accountId)
    .where("status", "!=", "deleted")
    .execute();
}

/** Takes some tens of milliseconds of the writer's time. */
const rowsAtOnce = 500;

/** Deletes some rows of a deleted run, or the run itself once it has no rows. Returns whether there was such a run. */
export async function deleteSomeOfDiscardedRun(database: Database): Promise<boolean> {
  const run = await database.selectFrom("runs").select("id").where(isDeleted).limit(1).executeTakeFirst();
  if (run === undefined) return false;
  if (!(await deleteSomeRunRows(database, run.id, rowsAtOnce))) await deleteRunRow(database, run.id);
  return true;
}

async function deleteRunRow(database: Database, id: string) {
  const samples = database.selectFrom("label_samples").select("id").where("run_id", "=", id);
  await database.deleteFrom("label_sample_items").where("sample_id", "in", samples).execute();
  await database.deleteFrom("label_samples").where("run_id", "=", id).execute();
  await database.deleteFrom("runs").where("id", "=", id).where("status", "=", "deleted").execute();
}

/** Written as in the partial index on these rows: with a parameter, neither database would use it. */
const isDeleted = sql<SqlBool>`status = 'deleted'`;

/** Deletes some rows of a deleted run. Returns whether there may be more. */
export async function deleteSomeRunRows(database: Database, runId: string, count: number) {
  const ids = await database
    .selectFrom("predictions")
    .select("id")
    .where("run_id", "=", runId)
    .limit(count)
    .execute();
  if (ids.length > 0) {
    const some = ids.map(({ id }) => id);
    await database.deleteFrom("prediction_payloads").where("prediction_id", "in", some).execute();
    await database.deleteFrom("predictions").where("id", "in", some).execute();
    return true;
  }
  const first = await database
    .selectFrom("run_verdicts")
    .select(["evaluator", "position"])
    .where("run_id", "=", runId)
    .orderBy("evaluator")
    .orderBy("position")
    .limit(1)
    .executeTakeFirst();
  if (first === undefined) return false;
  await database
    .deleteFrom("run_verdicts")
    .where("run_id", "=", runId)
    .where("evaluator", "=", first.evaluator)
    .where("position", "<", first.position + count)
    .execute();
  return true;
}
