import { type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { databaseNow } from "../../platform/storage/clock.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { latestEnd } from "../../platform/storage/leases.ts";
import { insertRows } from "../../platform/storage/rows.ts";
import type {
  PredictionPayloadsTable,
  PredictionsTable,
  RunVerdictsTable,
  SampleTraitsTable,
} from "../../platform/storage/schema/runs.ts";
import type { Database, Tables } from "../../platform/storage/schema/tables.ts";
import {
  countNames,
  type Lease,
  type Run,
  type RunEvaluator,
  runLeaseMs,
  type TrajectoryLength,
  uploadLeaseMs,
  type WorkCounts,
} from "../run.ts";
import { never, parseRun, runColumns } from "../runs-store.ts";

/** Written as in the partial index on these rows: with parameters, neither database would use it. */
const isUnfinished = sql<SqlBool>`status in ('queued', 'running', 'paused')`;

/** Releases runs of processes that have ended, and runs with impossibly long leases, as after a clock was set back. */
export async function releaseStuckRuns(
  database: Database,
  now: Micros,
  hasEnded: (leaseId: string) => boolean,
) {
  const held = await database
    .selectFrom("runs")
    .select(["id", "lease_id", "lease_until", "target_kind"])
    .where(isUnfinished)
    .where("lease_until", ">=", now)
    .where("lease_until", "<", never)
    .execute();
  for (const { id, lease_id: leaseId, lease_until: until, target_kind } of held) {
    const isTooLong = until > latestEnd(now, target_kind === "imported" ? uploadLeaseMs : runLeaseMs);
    if (!isTooLong && (leaseId === null || !hasEnded(leaseId))) continue;
    await database
      .updateTable("runs")
      .set({ lease_id: null, lease_until: 0 })
      .where("id", "=", id)
      .where("lease_until", "=", until)
      .execute();
  }
}

interface Claim {
  now: Micros;
  leaseMicros: Micros;
  /** If absent, the run that has waited longest. */
  runId?: string | undefined;
  /** Accounts none of whose runs is taken. */
  busyAccounts?: readonly string[];
}

/** Takes a run that waits for a process or already has this lease, for the duration of the lease. Times are the database's. */
export async function claimRun(
  database: Database,
  leaseId: string,
  { now, leaseMicros, runId, busyAccounts = [] }: Claim,
): Promise<Run | undefined> {
  return await database.transaction().execute(async (transaction) => {
    const isFree = (of: ExpressionBuilder<Tables, "runs">) => {
      const hasEnded = of("lease_until", "<", now);
      return runId === undefined ? hasEnded : of.or([hasEnded, of("lease_id", "=", leaseId)]);
    };
    const free = await transaction
      .selectFrom("runs")
      .select("id")
      .where(isUnfinished)
      .where(isFree)
      .$if(busyAccounts.length > 0, (query) => query.where("account_id", "not in", busyAccounts))
      .$if(runId !== undefined, (query) => query.where("id", "=", runId ?? ""))
      .where((of) => of.or([of("status", "!=", "paused"), of("paused_by", "=", "deployment")]))
      .where((of) =>
        of.or([
          of("target_kind", "in", ["deployment", "baseline", "world"]),
          of("status", "=", "running"),
          // The run's upload was complete before it had to wait.
          of("paused_by", "=", "deployment"),
        ]),
      )
      .orderBy("lease_until")
      .limit(1)
      .executeTakeFirst();
    if (free === undefined) return undefined;
    const claimed = await transaction
      .updateTable("runs")
      .set((of) => ({
        lease_id: leaseId,
        lease_until: now + leaseMicros,
        status: of
          .case()
          .when("status", "=", "queued")
          .then("running" as const)
          .else(of.ref("status"))
          .end(),
        started_at: of.fn.coalesce("started_at", of.val(now)),
      }))
      .where("id", "=", free.id)
      .where(isFree)
      .where("status", "in", ["queued", "running", "paused"])
      .returning(runColumns)
      .executeTakeFirst();
    return claimed && parseRun(claimed);
  });
}

/** Extends a lease. Returns whether the run was still this process's. */
export async function renewLease(database: Database, { id, leaseId, until }: Lease & { until: Micros }) {
  const row = await database
    .updateTable("runs")
    .set({ lease_until: until })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Releases a run. No process may take it before the given time. */
export async function releaseLease(database: Database, { id, leaseId }: Lease, until: Micros) {
  await database
    .updateTable("runs")
    .set({ lease_id: null, lease_until: until })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** The status of a run; undefined if another process has it, or it was deleted. */
export async function readRunState(database: Database, { id, leaseId }: Lease) {
  return await database
    .selectFrom("runs")
    .select(["status", "paused_by"])
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .executeTakeFirst();
}

/** Records why a run waits, or that it no longer does. A user's pause is kept. */
export async function markAway(database: Database, { id, leaseId }: Lease, reason: string | undefined) {
  const isAway = reason !== undefined;
  await database
    .updateTable("runs")
    .set({
      status: isAway ? "paused" : "running",
      paused_by: isAway ? "deployment" : null,
      status_reason: reason ?? null,
    })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where((of) => of.or([of("status", "=", "running"), of("paused_by", "=", "deployment")]))
    .execute();
}

export async function saveProvenance(
  database: Database,
  { id, leaseId }: Lease,
  { provenance, notes, tries }: Pick<Run, "provenance" | "notes" | "tries">,
) {
  await database
    .updateTable("runs")
    .set({
      provenance: JSON.stringify(provenance),
      notes: JSON.stringify(notes),
      tries: tries && JSON.stringify(tries),
    })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** Ends a run in which nothing is missing. Returns false if it was cancelled, paused or given more evaluators. */
export async function endRun(
  database: Database,
  { id, leaseId }: Lease,
  evaluators: readonly RunEvaluator[],
) {
  const row = await database
    .updateTable("runs")
    .set({
      status: "finished",
      status_reason: null,
      finished_at: databaseNow(database),
      lease_id: null,
      lease_until: 0,
    })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where("status", "=", "running")
    .where("evaluators", "=", JSON.stringify(evaluators))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts work of the process that has the lease. Returns whether the process still has it. */
async function addProgress(transaction: Database, { id, leaseId }: Lease, counts: WorkCounts) {
  const row = await transaction
    .updateTable("runs")
    .set((of) => Object.fromEntries(countNames.map((name) => [name, of(name, "+", counts[name])])))
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where("status", "in", ["running", "paused"])
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Work done for a run, to be stored together. Plain data, because it crosses threads. */
export interface RunWork {
  runId: string;
  leaseId: string;
  predictions: readonly { row: PredictionsTable; payload: PredictionPayloadsTable }[];
  verdicts: readonly RunVerdictsTable[];
  traits: readonly SampleTraitsTable[];
  counts: WorkCounts;
}

/** Stores work, unless the run was cancelled or another process took it over. Returns whether it was stored. */
export async function storeWork(database: Database, work: RunWork) {
  return await database.transaction().execute(async (transaction) => {
    // First, because it locks the run: a process that has lost the lease stores nothing.
    if (!(await addProgress(transaction, { id: work.runId, leaseId: work.leaseId }, work.counts)))
      return false;
    const rows = work.predictions.map(({ row }) => row);
    const payloads = work.predictions.map(({ payload }) => payload);
    await insertRows(transaction, "predictions", rows);
    await insertRows(transaction, "prediction_payloads", payloads);
    await insertRows(transaction, "run_verdicts", work.verdicts);
    // Runs of one revision store the same rows: always in one order, to avoid deadlocks.
    const traits = work.traits.toSorted((a, b) => a.position - b.position);
    await insertRows(transaction, "sample_traits", traits, "on conflict do nothing");
    return true;
  });
}

/** The predictions that a run already has for some samples. */
export async function selectStoredPredictions(reader: Database, runId: string, positions: readonly number[]) {
  if (positions.length === 0) return [];
  const rows = await reader
    .selectFrom("predictions")
    .select(["id", "status", "model", "position", "repeat"])
    .where("run_id", "=", runId)
    .where("position", "in", positions)
    .execute();
  return rows.map((row) => ({ ...row, position: Number(row.position), repeat: Number(row.repeat) }));
}

/** The outputs of predictions, by id. */
export async function selectOutputs(reader: Database, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select(["prediction_id", "output"])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, output }) => [prediction_id, output ?? ""]));
}

/** The verdicts that a run already has on some samples. */
export async function selectStoredVerdicts(
  reader: Database,
  runId: string,
  evaluators: number,
  positions: readonly number[],
) {
  if (positions.length === 0 || evaluators === 0) return [];
  return await reader
    .selectFrom("run_verdicts")
    .select(["evaluator", "position", "repeat", "status"])
    .where("run_id", "=", runId)
    // Listed one by one, so that all columns of the index are used.
    .where(
      "evaluator",
      "in",
      Array.from({ length: evaluators }, (_, index) => index),
    )
    .where("position", "in", positions)
    .execute();
}

/** The positions among these whose samples have their traits. */
export async function selectTraitPositions(
  reader: Database,
  revisionId: number,
  positions: readonly number[],
): Promise<Set<number>> {
  if (positions.length === 0) return new Set();
  const rows = await reader
    .selectFrom("sample_traits")
    .select("position")
    .where("revision_id", "=", revisionId)
    .where("position", "in", positions)
    .execute();
  return new Set(rows.map(({ position }) => position));
}

/** Some trajectories of a revision after a given one, in the order of their ids' bytes. */
export async function selectTrajectoryLengths(
  reader: Database,
  revisionId: number,
  after: string,
  limit: number,
): Promise<TrajectoryLength[]> {
  return await reader
    .selectFrom("dataset_samples")
    .select((of) => ["trajectory_id as trajectoryId", of.fn.countAll<number>().as("samples")])
    .where("revision_id", "=", revisionId)
    .where("trajectory_id", ">", after)
    .groupBy("trajectory_id")
    .orderBy("trajectory_id")
    .limit(limit)
    .execute();
}
