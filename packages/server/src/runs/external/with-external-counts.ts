import { ServiceError } from "../../platform/errors.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { selectLastSettled } from "../../results/write/results-store.ts";
import { isExternal, notCounted, type Run, type RunCounts } from "../run.ts";
import { countInRanges, type RunCount } from "./count-in-ranges.ts";
import { type EvaluatorCounts, merge, nothingCounted, withMostResults } from "./external-counts.ts";
import { selectHighestId } from "./external-results-store.ts";

/** A run lists those with the most results. */
const maxListed = 100;

type Services = Pick<EvaluationServices, "store" | "externalCounts">;

/**
 * Runs, of which external ones have the evaluators and the progress that their results tell. Where that takes long or the database
 * does not count, they have what was counted before: a run is shown and changed in any case.
 */
export async function withExternalCounts(
  services: Services,
  requester: Requester,
  runs: readonly Run[],
): Promise<Run[]> {
  const { kept } = services.externalCounts;
  const runCounts = runs.filter(isExternal).map(
    ({ id }): RunCount => ({
      id,
      counted: kept.get(id) ?? nothingCounted,
      unsettled: nothingCounted.evaluators,
    }),
  );
  if (runCounts.length === 0) return [...runs];
  try {
    await count(services, requester, runCounts);
  } catch (error) {
    if (!(error instanceof ServiceError) && !isStoreUnavailable(error)) throw error;
  }
  const byId = new Map(runCounts.map((runCount) => [runCount.id, runCount]));
  return runs.map((run) => {
    const runCount = byId.get(run.id);
    return runCount === undefined ? run : { ...run, ...shown(runCount) };
  });
}

async function count(
  { store, externalCounts }: Services,
  requester: Requester,
  runCounts: readonly RunCount[],
): Promise<void> {
  const reader = store.briefReader(requester);
  // Before the results are read: a number up to this one is never taken again.
  const settled = (await selectLastSettled(reader)) ?? (await selectHighestId(reader));
  await countInRanges({ reader, accountId: requester.accountId, externalCounts, settled }, runCounts);
}

function shown({ counted, unsettled }: RunCount): Pick<Run, "externalEvaluators" | "counts"> {
  const all = merge(counted.evaluators, [...unsettled.values()]);
  const evaluators = [...withMostResults(all, maxListed)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  return { externalEvaluators: evaluators.map(({ names }) => names), counts: toCounts(evaluators) };
}

/** The intended number of samples is unknown: the evaluator with the most results is taken to have seen them all. */
function toCounts(evaluators: readonly EvaluatorCounts[]): RunCounts {
  if (evaluators.length === 0) return { samples: 0, ...notCounted };
  const results = evaluators.map((one) => one.results);
  const samples = Math.max(...results);
  return {
    ...notCounted,
    samples,
    predicted: samples,
    evaluated: Math.min(...results),
    failed: Math.max(...evaluators.map(failuresOf)),
  };
}

/** As in reports: among verdicts, a score alone says nothing of who passed. */
function failuresOf({ results, with_pass, with_score }: EvaluatorCounts): number {
  return results - (with_pass > 0 ? with_pass : with_score);
}
