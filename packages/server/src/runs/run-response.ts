import type { Run as ApiRun, RunEvaluator, RunProgress } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { type Run, type RunTarget, toEvaluatorNames } from "./run.ts";

/** A run as the API has it. */
export function toRun(run: Run): ApiRun {
  return {
    id: run.id,
    name: run.name,
    status: run.status,
    status_reason: run.status_reason,
    progress: toProgress(run),
    dataset_id: run.dataset?.datasetId ?? null,
    revision: run.dataset?.revision ?? null,
    target: toTarget(run.target),
    params: run.params && { ...run.params },
    mode: run.mode,
    evaluators: [...(run.externalEvaluators ?? run.evaluators.map(toEvaluatorNames))],
    repeats: run.repeats,
    concurrency: run.concurrency,
    tags: run.tags && { ...run.tags },
    provenance: run.provenance,
    notes: [...run.notes],
    created_by: run.created_by,
    created_at: toIsoInstant(run.created_at),
    started_at: run.started_at === null ? null : toIsoInstant(run.started_at),
    finished_at: run.finished_at === null ? null : toIsoInstant(run.finished_at),
  };
}

function toProgress({ counts, tries }: Run): RunProgress {
  const { unpredicted, truncated, empty, repaired, ...progress } = counts;
  return {
    ...progress,
    failed_predictions: unpredicted,
    without_verdict: progress.failed - unpredicted,
    answers:
      truncated === null || empty === null || repaired === null ? null : { truncated, empty, repaired },
    tries,
  };
}

function toTarget(target: RunTarget): ApiRun["target"] {
  switch (target.kind) {
    case "deployment": {
      const { deployment, model } = target;
      return model === undefined ? { deployment } : { deployment, model };
    }
    case "no-change":
      return { baseline: "no-change" };
    case "most-frequent": {
      const { from } = target;
      return from === undefined
        ? { baseline: "most-frequent" }
        : { baseline: "most-frequent", from: { dataset_id: from.datasetId, revision: from.revision } };
    }
    case "imported":
      return { predictions: "imported" };
    case "external":
      return { external: true };
  }
}

export const exampleProvenance = {
  presage_version: "0.1.0",
  prompt_version: "1",
  dataset_digest: "5e0e4cb1d3ab5ae1b3d7a0e1d1a8f5f3f0cf9f0d41d6b8cbb06f1c4b7b0f2a91",
  models: ["presage-sandbox"],
  in_sample: false,
};
export const exampleEvaluator = {
  evaluator: "exact-match-2026-11-21",
  profile_name: "system:default",
  profile_id: "7a2c3b1e-5d7f-5c0a-9a44-0b8f7a6d2e10",
  profile_revision: 1,
};

export const exampleFinishedRun = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  name: "sandbox, teacher-forced",
  status: "finished",
  status_reason: null,
  progress: {
    samples: 394,
    predicted: 390,
    evaluated: 394,
    failed: 6,
    failed_predictions: 4,
    without_verdict: 2,
    answers: { truncated: 3, empty: 0, repaired: 0 },
    tries: { retried: { upstream: 12 }, timed_out: 4, at_once: 3 },
  },
  dataset_id: "019aa5f4-2c61-7000-b5a7-41d27c0c9e33",
  revision: 1,
  target: { deployment: "sandbox" },
  params: { temperature: 0 },
  mode: "teacher-forced",
  evaluators: [exampleEvaluator] as [RunEvaluator],
  repeats: 1,
  concurrency: 16,
  tags: null,
  provenance: exampleProvenance,
  notes: [],
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:50:11.102Z",
  started_at: "2026-11-22T03:50:11.150Z",
  finished_at: "2026-11-22T03:52:40.020Z",
} satisfies ApiRun;

export const exampleRun: ApiRun = {
  ...exampleFinishedRun,
  status: "running",
  progress: { ...exampleFinishedRun.progress, predicted: 120, evaluated: 112 },
  finished_at: null,
};
