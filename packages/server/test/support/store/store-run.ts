import { createHash } from "node:crypto";
import type { ErrorCategory, EvaluationStatus, RunMode, RunProvenance, RunStatus } from "@presage/contract";
import { type Micros, microsPerSecond, nowMicros } from "../../../src/platform/storage/columns.ts";
import { insertRows } from "../../../src/platform/storage/rows.ts";
import type { PredictionsTable, RunVerdictsTable } from "../../../src/platform/storage/schema/runs.ts";
import type { Database } from "../../../src/platform/storage/schema/tables.ts";
import { noCounts, type RunEvaluator, type RunTarget } from "../../../src/runs/run.ts";
import { insertRun } from "../../../src/runs/runs-store.ts";

export interface StoredSample {
  trajectory: string;
  step: number;
  changes?: number | null;
  verb?: string;
  tags?: Record<string, string>;
  /** Texts that make it differ from a sample with the same ids. */
  text?: string;
}

export interface StoredRevision {
  datasetId: string;
  revisionId: number;
  revision: number;
  samples: readonly StoredSample[];
}

/** Stores a revision with the traits of its samples, but without their texts. */
export async function storeRevision(
  database: Database,
  accountId: string,
  samples: readonly StoredSample[],
): Promise<StoredRevision> {
  const datasetId = Bun.randomUUIDv7();
  const now = nowMicros();
  await database
    .insertInto("datasets")
    .values({
      id: datasetId,
      account_id: accountId,
      name: datasetId,
      description: null,
      tags: null,
      last_revision: 1,
      created_by: Bun.randomUUIDv7(),
      created_at: now,
    })
    .execute();
  const { id } = await database
    .insertInto("dataset_revisions")
    .values({
      account_id: accountId,
      dataset_id: datasetId,
      state: "sealed",
      number: 1,
      digest: datasetId,
      trajectories: new Set(samples.map(({ trajectory }) => trajectory)).size,
      samples: samples.length,
      bytes: 100 * samples.length,
      created_at: now,
      touched_at: now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const revisionId = Number(id);
  await insertRows(
    database,
    "dataset_samples",
    samples.map(({ trajectory, step }, index) => ({
      revision_id: revisionId,
      position: index + 1,
      trajectory_id: trajectory,
      step,
      sample_id: `${trajectory}/${step}`,
      bytes: 100,
    })),
  );
  await insertRows(
    database,
    "sample_traits",
    samples.map((sample, index) => ({
      revision_id: revisionId,
      position: index + 1,
      digest: createHash("sha256")
        .update(JSON.stringify([sample.trajectory, sample.step, sample.text]))
        .digest("base64url"),
      changes: sample.changes === undefined ? 1 : sample.changes,
      verb: sample.verb ?? "go",
      tags: sample.tags === undefined ? null : JSON.stringify(sample.tags),
    })),
  );
  return { datasetId, revisionId, revision: 1, samples };
}

/** One evaluator's verdict on one prediction, or why there is none. */
export type StoredVerdict =
  | { pass: boolean; score: number | null; unchanged?: { pass: boolean; score: number } }
  | { status: Exclude<EvaluationStatus, "success"> };

/** A prediction, with the verdicts in the order of the evaluators. */
export type StoredPrediction =
  | {
      verdicts: readonly (StoredVerdict | undefined)[];
      latencyMs?: number;
      score?: number;
      confidence?: number;
    }
  | { failed: ErrorCategory };

export interface StoredRun {
  name?: string;
  isLeaky?: boolean;
  draw?: RunProvenance["draw"];
  status?: RunStatus;
  statusReason?: string;
  mode?: RunMode;
  target?: RunTarget;
  params?: Record<string, unknown>;
  repeats?: number;
  evaluators?: readonly RunEvaluator[];
  models?: string[];
  notes?: string[];
  createdAt?: Micros;
  /** Seconds after the run's creation. All its predictions exist after ten seconds. */
  finishedAfterS?: number;
  /** The predictions of each sample, by repeat. Undefined if there is none yet. */
  predictions: readonly (readonly (StoredPrediction | undefined)[])[];
}

export function evaluatorNamed(id: string, revision = 1): RunEvaluator {
  return {
    id,
    family: id,
    profile: { name: "system:default", publicId: "7a2c3b1e-5d7f-5c0a-9a44-0b8f7a6d2e10", revision },
    explainStrategy: "never",
  };
}

const predictedAfterS = 10;

/** Stores a run with its predictions, verdicts and figures, like a process that has finished one. Returns its id. */
export async function storeRun(
  database: Database,
  accountId: string,
  dataset: StoredRevision | undefined,
  run: StoredRun,
): Promise<string> {
  return await database
    .transaction()
    .execute((transaction) => storeRunRows(transaction, accountId, dataset, run));
}

async function storeRunRows(
  database: Database,
  accountId: string,
  dataset: StoredRevision | undefined,
  { predictions, repeats = 1, status = "finished", ...given }: StoredRun,
): Promise<string> {
  const id = Bun.randomUUIDv7();
  const createdAt = given.createdAt ?? nowMicros();
  const samples = predictions.length * repeats;
  await insertRun(database, {
    id,
    account_id: accountId,
    name: given.name ?? "a run",
    status,
    status_reason: null,
    paused_by: null,
    target: given.target ?? { kind: "deployment", deployment: "sandbox", model: undefined },
    mode: given.mode ?? "teacher-forced",
    params: given.params ?? null,
    evaluators: given.evaluators ?? [evaluatorNamed("exact-match")],
    repeats,
    concurrency: 16,
    tags: null,
    dataset,
    counts: { ...noCounts, samples, predicted: samples, evaluated: samples },
    tries: null,
    provenance: {
      presage_version: "0.1.0",
      prompt_version: "1",
      dataset_digest: null,
      models: given.models ?? ["sandbox"],
      in_sample: false,
      ...(given.isLeaky && { leaky: true as const }),
      ...(given.draw && { draw: given.draw }),
    },
    notes: given.notes ?? [],
    created_by: Bun.randomUUIDv7(),
    api_key_id: null,
    created_at: createdAt,
    started_at: null,
    finished_at: null,
  });
  await database
    .updateTable("runs")
    .set({
      started_at: createdAt,
      finished_at: createdAt + (given.finishedAfterS ?? predictedAfterS) * microsPerSecond,
      status_reason: given.statusReason ?? null,
    })
    .where("id", "=", id)
    .execute();
  const predictionRows: PredictionsTable[] = [];
  const verdictRows: RunVerdictsTable[] = [];
  for (const [index, ofSample] of predictions.entries()) {
    for (const [repeat, prediction] of ofSample.entries()) {
      if (prediction === undefined) continue;
      const place = { run_id: id, position: index + 1, repeat };
      predictionRows.push(
        toPredictionRow(accountId, place, prediction, createdAt + predictedAfterS * microsPerSecond),
      );
      if ("failed" in prediction) continue;
      for (const [evaluator, verdict] of prediction.verdicts.entries()) {
        if (verdict !== undefined) verdictRows.push(toVerdictRow({ ...place, evaluator }, verdict));
      }
    }
  }
  await insertRows(database, "predictions", predictionRows);
  await insertRows(database, "run_verdicts", verdictRows);
  return id;
}

function toPredictionRow(
  accountId: string,
  place: Pick<PredictionsTable, "run_id" | "position" | "repeat">,
  prediction: StoredPrediction,
  createdAt: Micros,
): PredictionsTable {
  const isFailed = "failed" in prediction;
  return {
    id: Bun.randomUUIDv7(),
    account_id: accountId,
    source: "run",
    created_at: createdAt,
    ...place,
    status: isFailed ? "failed" : "success",
    error_category: isFailed ? prediction.failed : null,
    deployment: "sandbox",
    model: "sandbox",
    sent_model: "sandbox",
    replica: null,
    finish_reason: isFailed ? null : "stop",
    prompt_tokens: isFailed ? 0 : 100,
    cached_tokens: isFailed ? 0 : 40,
    completion_tokens: isFailed ? 0 : 7,
    latency_micros: isFailed ? null : (prediction.latencyMs ?? 10) * 1000,
    score: isFailed ? null : (prediction.score ?? null),
    confidence: isFailed ? null : (prediction.confidence ?? null),
    api_key_id: null,
    request_id: null,
  };
}

function toVerdictRow(
  place: Pick<RunVerdictsTable, "run_id" | "evaluator" | "position" | "repeat">,
  verdict: StoredVerdict,
): RunVerdictsTable {
  const isFailed = "status" in verdict;
  const unchanged = isFailed ? undefined : verdict.unchanged;
  return {
    ...place,
    status: isFailed ? verdict.status : "success",
    pass: isFailed ? null : verdict.pass ? 1 : 0,
    score: isFailed ? null : verdict.score,
    unchanged_pass: unchanged === undefined ? null : unchanged.pass ? 1 : 0,
    unchanged_score: unchanged?.score ?? null,
    result_id: null,
  };
}
