import type { ErrorCategory } from "@presage/contract";
import { type SqlBool, sql } from "kysely";
import type { PredictionsTable } from "../../storage/schema/predictions.ts";
import type { RunVerdictsTable } from "../../storage/schema/runs.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { Run, RunDataset } from "./run.ts";

/** The place of a sample and a repeat in a run. */
export interface RunPlace {
  position: number;
  repeat: number;
}

export interface RunSampleFilter {
  /** The evaluator's place in the run's list. */
  evaluator?: number | undefined;
  /** The evaluator's verdict. */
  pass?: boolean | undefined;
  /** Whether there is a prediction. */
  status?: PredictionsTable["status"] | undefined;
  trajectoryId?: string | undefined;
  step?: number | undefined;
  /** Whether the state changed in the recording. */
  isChanged?: boolean | undefined;
}

/** A prediction of a run without its texts. */
export interface RunSampleRow extends RunPlace {
  sample_id: string;
  trajectory_id: string;
  step: number;
  changes: number | null;
  verb: string | null;
  prediction_id: string;
  status: PredictionsTable["status"];
  error_category: ErrorCategory | "missing" | "not_reached" | null;
  finish_reason: string | null;
  prompt_tokens: number;
  completion_tokens: number;
  latency_micros: number | null;
}

type OfRun = Pick<Run, "id"> & { dataset: RunDataset };

/** The predictions of a run after a place, in the order of the dataset. */
export async function selectRunSamples(
  reader: Database,
  { id, dataset }: OfRun,
  { evaluator, pass, status, trajectoryId, step, isChanged }: RunSampleFilter,
  { limit, after }: { limit: number; after: RunPlace },
): Promise<RunSampleRow[]> {
  let query = reader
    .selectFrom("predictions")
    .innerJoin("dataset_samples as sample", (join) =>
      join
        .on("sample.revision_id", "=", dataset.revisionId)
        .onRef("sample.position", "=", "predictions.position"),
    )
    .leftJoin("sample_traits as traits", (join) =>
      join
        .on("traits.revision_id", "=", dataset.revisionId)
        .onRef("traits.position", "=", "predictions.position"),
    )
    .select([
      "predictions.id as prediction_id",
      "predictions.status",
      "error_category",
      "finish_reason",
      "prompt_tokens",
      "completion_tokens",
      "latency_micros",
      "predictions.repeat",
      "sample.position",
      "sample.sample_id",
      "sample.trajectory_id",
      "sample.step",
      "traits.changes",
      "traits.verb",
    ])
    .where("predictions.run_id", "=", id)
    .where(sql<SqlBool>`(predictions.position, predictions.repeat) > (${after.position}, ${after.repeat})`);
  if (status !== undefined) query = query.where("predictions.status", "=", status);
  if (trajectoryId !== undefined) query = query.where("sample.trajectory_id", "=", trajectoryId);
  if (step !== undefined) query = query.where("sample.step", "=", step);
  if (isChanged !== undefined) query = query.where("traits.changes", isChanged ? ">" : "=", 0);
  if (evaluator !== undefined)
    query = query.where((of) =>
      of.exists(
        of
          .selectFrom("run_verdicts as verdict")
          .select("verdict.position")
          .where("verdict.run_id", "=", id)
          .where("verdict.evaluator", "=", evaluator)
          .whereRef("verdict.position", "=", "predictions.position")
          .whereRef("verdict.repeat", "=", "predictions.repeat")
          .$if(pass !== undefined, (verdict) => verdict.where("verdict.pass", "=", pass ? 1 : 0)),
      ),
    );
  const rows = await query
    .orderBy("predictions.position")
    .orderBy("predictions.repeat")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, repeat: Number(row.repeat) }));
}

export type RunSampleVerdict = Pick<
  RunVerdictsTable,
  "evaluator" | "position" | "repeat" | "status" | "pass" | "score" | "result_id"
>;

/** The verdicts on some samples of a run. */
export async function selectRunVerdicts(
  reader: Database,
  { id, evaluators }: Pick<Run, "id" | "evaluators">,
  positions: readonly number[],
): Promise<RunSampleVerdict[]> {
  if (positions.length === 0) return [];
  return await reader
    .selectFrom("run_verdicts")
    .select(["evaluator", "position", "repeat", "status", "pass", "score", "result_id"])
    .where("run_id", "=", id)
    .where("evaluator", "in", [...evaluators.keys()])
    .where("position", "in", positions)
    .orderBy("evaluator")
    .execute();
}

/** The texts of predictions, by their ids. */
export async function selectRunTexts(
  reader: Database,
  ids: readonly string[],
): Promise<Map<string, { output: string | null; reasoning: string | null; error_message: string | null }>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select(["prediction_id", "output", "reasoning", "error_message"])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, ...texts }) => [prediction_id, texts]));
}
