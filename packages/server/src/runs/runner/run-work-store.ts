import { insertRows } from "../../platform/storage/insert-rows.ts";
import type { PredictionPayloadsTable, PredictionsTable } from "../../platform/storage/schema/predictions.ts";
import type { RunVerdictsTable, SampleTraitsTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { WorkCounts } from "../run.ts";
import { addProgress } from "./run-leases-store.ts";

/** What was done for a run, to be stored together. Plain data: it crosses threads. */
export interface RunWork {
  runId: string;
  leaseId: string;
  predictions: readonly { row: PredictionsTable; payload: PredictionPayloadsTable }[];
  verdicts: readonly RunVerdictsTable[];
  traits: readonly SampleTraitsTable[];
  counts: WorkCounts;
}

/** Stores work, unless the run was cancelled, or another process took it over. Returns whether it did. */
export async function storeWork(database: Database, work: RunWork): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    // First, since it locks the run: who has lost the lease stores nothing.
    if (!(await addProgress(transaction, { id: work.runId, leaseId: work.leaseId }, work.counts)))
      return false;
    const rows = work.predictions.map(({ row }) => row);
    const payloads = work.predictions.map(({ payload }) => payload);
    await insertRows(transaction, "predictions", rows);
    await insertRows(transaction, "prediction_payloads", payloads);
    await insertRows(transaction, "run_verdicts", work.verdicts);
    await insertRows(transaction, "sample_traits", work.traits, "on conflict do nothing");
    return true;
  });
}

/** A prediction of a run, without its texts. */
export type KeptPrediction = Pick<PredictionsTable, "id" | "status" | "model"> & {
  position: number;
  repeat: number;
};

/** The predictions that a run has for some samples. */
export async function selectKeptPredictions(
  reader: Database,
  runId: string,
  positions: readonly number[],
): Promise<KeptPrediction[]> {
  if (positions.length === 0) return [];
  const rows = await reader
    .selectFrom("predictions")
    .select(["id", "status", "model", "position", "repeat"])
    .where("run_id", "=", runId)
    .where("position", "in", positions)
    .execute();
  return rows.map((row) => ({ ...row, position: Number(row.position), repeat: Number(row.repeat) }));
}

/** The outputs of predictions, by their ids. */
export async function selectOutputs(reader: Database, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select(["prediction_id", "output"])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, output }) => [prediction_id, output ?? ""]));
}

export type KeptVerdict = Pick<RunVerdictsTable, "evaluator" | "position" | "repeat" | "status">;

/** The verdicts that a run has on some samples. */
export async function selectKeptVerdicts(
  reader: Database,
  runId: string,
  evaluators: number,
  positions: readonly number[],
): Promise<KeptVerdict[]> {
  if (positions.length === 0 || evaluators === 0) return [];
  return await reader
    .selectFrom("run_verdicts")
    .select(["evaluator", "position", "repeat", "status"])
    .where("run_id", "=", runId)
    // Named one by one, so that the index is used to its end.
    .where(
      "evaluator",
      "in",
      Array.from({ length: evaluators }, (_, index) => index),
    )
    .where("position", "in", positions)
    .execute();
}

/** Which of some samples have their traits. */
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

/** Some trajectories of a revision after one, in the order of their ids' bytes. */
export async function selectTrajectoryIds(
  reader: Database,
  revisionId: number,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await reader
    .selectFrom("dataset_samples")
    .select("trajectory_id")
    .distinct()
    .where("revision_id", "=", revisionId)
    .where("trajectory_id", ">", after)
    .orderBy("trajectory_id")
    .limit(limit)
    .execute();
  return rows.map(({ trajectory_id }) => trajectory_id);
}

/** Deletes some rows of a deleted run. Returns whether there may be more. */
export async function deleteSomeRunRows(database: Database, runId: string, count: number): Promise<boolean> {
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
