import { type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { databaseNow } from "../../platform/storage/database-clock.ts";
import { latestEnd } from "../../platform/storage/leases-store.ts";
import type { Micros } from "../../platform/storage/micros.ts";
import type { RunsTable } from "../../platform/storage/schema/runs.ts";
import type { Database, Tables } from "../../platform/storage/schema/tables.ts";
import { countNames, type Run, type RunEvaluator, type WorkCounts } from "../run.ts";
import { never, runColumns, toRun } from "../runs-store.ts";

/** As the index of these rows has it: with parameters, neither database would use it. */
const isUnfinished = sql<SqlBool>`status in ('queued', 'running', 'paused')`;

export const runLeaseMs = 30_000;
/** Longer than a batch waits for the client. */
export const uploadLeaseMs = 120_000;

/** Releases runs whose leases are longer than leases are, as after a clock was set back, or of processes that have ended. */
export async function releaseStuckRuns(
  database: Database,
  now: Micros,
  hasEnded: (leaseId: string) => boolean,
): Promise<void> {
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
  /** Absent: whichever run waits longest. */
  runId?: string | undefined;
  /** Accounts none of whose runs is taken. */
  busyAccounts?: readonly string[];
}

/** Takes a run that waits for a process, or has this lease already, for as long as the lease holds. Times are the database's. */
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
        of.or([of("target_kind", "in", ["deployment", "baseline"]), of("status", "=", "running")]),
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
    return claimed && toRun(claimed);
  });
}

/** A run as the process names it that works on it. */
export interface Lease {
  id: string;
  leaseId: string;
}

/** Keeps a run for longer. Returns whether it was still this process's. */
export async function renewLease(
  database: Database,
  { id, leaseId, until }: Lease & { until: Micros },
): Promise<boolean> {
  const row = await database
    .updateTable("runs")
    .set({ lease_until: until })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Releases a run that no process may take before a given time. */
export async function releaseLease(database: Database, { id, leaseId }: Lease, until: Micros): Promise<void> {
  await database
    .updateTable("runs")
    .set({ lease_id: null, lease_until: until })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** What became of a run; undefined if it is another process's, or deleted. */
export async function readRunState(
  database: Database,
  { id, leaseId }: Lease,
): Promise<Pick<RunsTable, "status" | "paused_by"> | undefined> {
  return await database
    .selectFrom("runs")
    .select(["status", "paused_by"])
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .executeTakeFirst();
}

/** Records why a run waits, or that it no longer does. A user's pause stays. */
export async function markAway(
  database: Database,
  { id, leaseId }: Lease,
  reason: string | undefined,
): Promise<void> {
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
): Promise<void> {
  await database
    .updateTable("runs")
    .set({
      provenance: JSON.stringify(provenance),
      notes: JSON.stringify(notes),
      tries: tries === undefined ? null : JSON.stringify(tries),
    })
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** Ends a run in which nothing is missing. Returns false if it was cancelled or paused, or given more evaluators. */
export async function endRun(
  database: Database,
  { id, leaseId }: Lease,
  evaluators: readonly RunEvaluator[],
): Promise<boolean> {
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

/** Counts work of the process that has the lease. Returns whether it still has it. */
export async function addProgress(
  transaction: Database,
  { id, leaseId }: Lease,
  counts: WorkCounts,
): Promise<boolean> {
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
