import type { Run as ApiRun, RunProgress } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { type Run, type RunTarget, toEvaluatorNames } from "./run.ts";

export function toRun(run: Run): ApiRun {
  const { startedAt, finishedAt } = run;
  return {
    id: run.id,
    name: run.name,
    status: run.status,
    status_reason: run.statusReason ?? null,
    progress: toProgress(run),
    dataset_id: run.dataset?.datasetId ?? null,
    revision: run.dataset?.revision ?? null,
    target: toTarget(run.target),
    params: run.params === undefined ? null : { ...run.params },
    mode: run.mode,
    evaluators: [...(run.externalEvaluators ?? run.evaluators.map(toEvaluatorNames))],
    repeats: run.repeats,
    concurrency: run.concurrency,
    tags: run.tags === undefined ? null : { ...run.tags },
    provenance: run.provenance,
    notes: [...run.notes],
    created_by: run.createdBy,
    created_at: toIsoInstant(run.createdAt),
    started_at: startedAt === undefined ? null : toIsoInstant(startedAt),
    finished_at: finishedAt === undefined ? null : toIsoInstant(finishedAt),
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
    tries: tries ?? null,
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
