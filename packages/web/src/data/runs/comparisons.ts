import type { ComparedPair, ComparedSample, ComparedSampleFilter, Presage, RunSample } from "@presage/sdk";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { flattenPages } from "../flatten-pages.ts";

const pageSize = 50;
const freshForMs = 60_000;

/** Runs compared with the first of them. */
export function comparisonQuery(presage: Presage, runIds: readonly string[]) {
  return queryOptions({
    queryKey: ["comparisons", runIds],
    queryFn: ({ signal }) => presage.comparisons.get(runIds, { signal }),
    staleTime: freshForMs,
  });
}

/** The samples of two runs that differ, page by page. */
export function comparedSamplesQuery(presage: Presage, runs: ComparedPair, filter: ComparedSampleFilter) {
  return infiniteQueryOptions({
    queryKey: ["comparisons", "samples", runs, filter],
    queryFn: ({ pageParam, signal }) =>
      presage.comparisons.listSamples(runs, { ...filter, limit: pageSize, after: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }): string | undefined => next ?? undefined,
    select: flattenPages<ComparedSample>,
    // Rows must not move while the user reads.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export type ComparedEvaluatorFilter = Pick<ComparedSampleFilter, "evaluator" | "profile_name">;

/** One side of a sample: the stored result of its first repeat with a verdict. */
export interface SampleSide {
  pass_rate: number | null;
  score: number | null;
  evaluation_result_id: string | null;
}

/** A sample of two runs, found by its place, for an address whose list is not loaded that far. */
export function comparedSampleQuery(
  presage: Presage,
  { reference, candidate }: ComparedPair,
  { evaluator, profile_name }: ComparedEvaluatorFilter,
  place: { trajectory_id: string; step: number },
) {
  const readSide = async (runId: string, signal: AbortSignal) => {
    const repeats = presage.runs.iterateSamples(runId, place, { signal });
    return sideOf(await Array.fromAsync(repeats), { evaluator, profile_name });
  };
  return queryOptions({
    queryKey: ["comparisons", "sample", reference, candidate, evaluator, profile_name, place],
    async queryFn({ signal }) {
      const [before, after] = await Promise.all([readSide(reference, signal), readSide(candidate, signal)]);
      return { reference: before, candidate: after };
    },
    staleTime: freshForMs,
  });
}

/** The mean of the repeats that have a verdict, as in a comparison. */
function sideOf(
  repeats: readonly RunSample[],
  { evaluator, profile_name }: ComparedEvaluatorFilter,
): SampleSide {
  const verdicts = repeats
    .flatMap((repeat) => repeat.verdicts)
    .filter(
      (verdict) =>
        verdict.evaluator === evaluator &&
        (profile_name === undefined || verdict.profile_name === profile_name) &&
        verdict.pass !== null,
    );
  const meanOf = (values: readonly number[]) =>
    values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    pass_rate: meanOf(verdicts.map(({ pass }) => Number(pass))),
    score: meanOf(verdicts.flatMap(({ score }) => score ?? [])),
    evaluation_result_id: verdicts[0]?.evaluation_result_id ?? null,
  };
}
