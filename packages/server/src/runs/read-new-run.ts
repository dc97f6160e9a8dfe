import { defaultRunConcurrency, type RunCreateRequest, type RunTarget } from "@presage/contract";
import type { NewRun, WantedTarget } from "./create-run.ts";

/** What a request says of a run, besides its evaluators. */
export function readNewRun(body: RunCreateRequest): Omit<NewRun, "evaluators" | "userId"> {
  return {
    name: body.name ?? undefined,
    dataset: { datasetId: body.dataset_id, revision: body.revision ?? undefined },
    target: readTarget(body.target),
    params: body.params ?? undefined,
    mode: body.mode ?? "teacher-forced",
    repeats: body.repeats ?? 1,
    concurrency: body.concurrency ?? defaultRunConcurrency,
    tags: body.tags ?? undefined,
  };
}

function readTarget(target: RunTarget): WantedTarget {
  if ("deployment" in target)
    return { kind: "deployment", deployment: target.deployment, model: target.model ?? undefined };
  if ("predictions" in target) return { kind: "imported" };
  if (target.baseline === "no-change") return { kind: "no-change" };
  const { from } = target;
  return {
    kind: "most-frequent",
    from: from ? { datasetId: from.dataset_id, revision: from.revision ?? undefined } : undefined,
  };
}
