import type { Comparison, ComparisonCandidate, Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../use-presage.ts";
import { comparisonQuery } from "./comparisons.ts";
import { runsOnDatasetQuery } from "./datasets.ts";

export interface BaselineDifference {
  /** A finished run that predicts no change on the same revision; null if there is none. */
  baseline: Run | null;
  comparison: Comparison | undefined;
  error: Error | null;
}

/** How a finished run compares with predicting no change, if that was run on the same revision. Undefined while that is not known. */
export function useBaselineDifference(run: Run): BaselineDifference | undefined {
  const presage = usePresage();
  const { data: runs } = useQuery({
    ...runsOnDatasetQuery(presage, run.dataset_id ?? ""),
    enabled: run.dataset_id !== null,
    // One that was just started ends soon.
    refetchInterval: ({ state: { data } }) =>
      data?.some((other) => isBaselineFor(run, other) && other.status !== "finished") === true
        ? 1_000
        : false,
  });
  const baseline = runs?.find((other) => isBaselineFor(run, other) && other.status === "finished");
  const { data: comparison, error } = useQuery({
    ...comparisonQuery(presage, [baseline?.id ?? "", run.id]),
    enabled: baseline !== undefined && run.status === "finished",
  });
  if (runs === undefined) return undefined;
  return { baseline: baseline ?? null, comparison, error };
}

function isBaselineFor(run: Run, { id, target, mode, revision }: Run): boolean {
  const isNoChange = "baseline" in target && target.baseline === "no-change";
  // What stands beside a report's figures is told the recorded state, in both modes.
  return id !== run.id && isNoChange && mode === "teacher-forced" && revision === run.revision;
}

interface Named {
  evaluator: string;
  profile_id: string | null;
  profile_revision: number | null;
}

/** The difference by one evaluator. */
export function differenceOf(
  comparison: Comparison | undefined,
  { evaluator, profile_id, profile_revision }: Named,
): ComparisonCandidate | undefined {
  return comparison?.evaluators.find(
    (one) =>
      one.evaluator === evaluator &&
      one.profile_id === profile_id &&
      one.profile_revision === profile_revision,
  )?.candidates[0];
}
