import { databaseNow } from "../platform/storage/clock.ts";
import { type Micros, microsPerMs } from "../platform/storage/columns.ts";
import { latestEnd } from "../platform/storage/leases.ts";
import type { DatasetSamplesTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type Lease, noCounts, uploadLeaseMs, type WorkCounts } from "./run.ts";

/** Takes an imported run for an upload. Returns false if it has its predictions, or another upload is in progress. */
export async function claimForUpload(
  database: Database,
  accountId: string,
  { id, leaseId }: Lease,
  now: Micros,
) {
  const row = await database
    .updateTable("runs")
    .set({ lease_id: leaseId, lease_until: now + uploadLeaseMs * microsPerMs, ...noCounts })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("target_kind", "=", "imported")
    .where("status", "=", "queued")
    .where((of) =>
      of.or([of("lease_until", "<", now), of("lease_until", ">", latestEnd(now, uploadLeaseMs))]),
    )
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** A run whose upload has this lease. */
function updateUploading(database: Database, { id, leaseId }: Lease) {
  return database
    .updateTable("runs")
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where("status", "=", "queued")
    .returning("id");
}

/** Counts predictions of an upload, which keeps the run. Returns false if it was cancelled or the upload took too long. */
export async function addUploaded(
  transaction: Database,
  lease: Lease,
  until: Micros,
  { predicted, failed, empty }: Pick<WorkCounts, "predicted" | "failed" | "empty">,
) {
  const row = await updateUploading(transaction, lease)
    .set((of) => ({
      predicted: of("predicted", "+", predicted),
      // Nothing will judge them.
      evaluated: of("evaluated", "+", failed),
      failed: of("failed", "+", failed),
      unpredicted: of("unpredicted", "+", failed),
      empty: of("empty", "+", empty),
      lease_until: until,
    }))
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets processes work on a run whose predictions are uploaded. Returns false if it was cancelled or paused. */
export async function completeUpload(database: Database, lease: Lease) {
  const row = await updateUploading(database, lease)
    .set({ lease_id: null, lease_until: 0, status: "running", started_at: databaseNow(database) })
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets the next upload begin, even if the run was paused and resumed during this one. */
export async function abandonUpload(database: Database, { id, leaseId }: Lease) {
  await database
    .updateTable("runs")
    .set((of) => ({
      lease_id: null,
      lease_until: 0,
      status: of
        .case()
        .when("status", "=", "running")
        .then("queued" as const)
        .else(of.ref("status"))
        .end(),
      ...noCounts,
    }))
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .execute();
}

/** How the lines of a batch name their samples. */
interface NamedSamples {
  ids: readonly string[];
  steps: readonly { trajectoryId: string; step: number }[];
  positions: readonly number[];
}

type NamedPosition = Pick<DatasetSamplesTable, "position" | "sample_id" | "trajectory_id" | "step">;

/** The samples of a revision with these ids or positions, and those of these trajectories at these steps. */
export async function selectNamedPositions(
  database: Database,
  revisionId: number,
  { ids, steps, positions }: NamedSamples,
): Promise<NamedPosition[]> {
  const found: NamedPosition[] = [];
  const all = database
    .selectFrom("dataset_samples")
    .select(["position", "sample_id", "trajectory_id", "step"])
    .where("revision_id", "=", revisionId);
  if (ids.length > 0) found.push(...(await all.where("sample_id", "in", ids).execute()));
  if (positions.length > 0) found.push(...(await all.where("position", "in", positions).execute()));
  const byTrajectory = Map.groupBy(steps, ({ trajectoryId }) => trajectoryId);
  for (const [trajectoryId, some] of byTrajectory) {
    const numbers = some.map(({ step }) => step);
    found.push(
      ...(await all.where("trajectory_id", "=", trajectoryId).where("step", "in", numbers).execute()),
    );
  }
  return found;
}
