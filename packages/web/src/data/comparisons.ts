import { readUserTurn } from "@presage/contract/compose-prompt";
import type {
  ComparedPair,
  ComparedSample,
  ComparedSampleFilter,
  Comparison,
  ComparisonCandidate,
  EvaluationResult,
  Presage,
  Run,
  RunBaseline,
  RunSample,
} from "@presage/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { pagedQuery, refreshWhile, usePresage } from "./client.ts";
import { runsOnDatasetQuery } from "./datasets.ts";
import { isActive } from "./runs.ts";

const pageSize = 25;
const freshForMs = 60_000;

/** Runs compared with the first of them. */
export function comparisonQuery(presage: Presage, runIds: readonly string[]) {
  return queryOptions({
    queryKey: ["comparisons", runIds],
    queryFn: ({ signal }) => presage.comparisons.get(runIds, { signal }),
    staleTime: freshForMs,
  });
}

/** The report of one of the compared runs. */
export function comparedReportQuery(presage: Presage, runId: string) {
  return queryOptions({
    queryKey: ["runs", "one", runId, "report"],
    queryFn: ({ signal }) => presage.runs.report(runId, { signal }),
    staleTime: freshForMs,
  });
}

const excerptCharacters = 2_000;
const mostResults = 1_000;

/** A sample that differs, with the beginnings of its texts if known. */
export interface DifferingSample extends ComparedSample {
  action: string | undefined;
  recorded: string | null | undefined;
  said: Record<keyof ComparedPair, string | null | undefined>;
}

/** The samples of two runs that differ, page by page. */
export function comparedSamplesQuery(presage: Presage, runs: ComparedPair, filter: ComparedSampleFilter) {
  const { evaluator, profile_name } = filter;
  return {
    ...pagedQuery(["comparisons", "samples", runs, filter], async ({ after, signal }) => {
      const listed = { ...filter, limit: pageSize, after };
      const { data, next } = await presage.comparisons.listSamples(runs, listed, { signal });
      const wanted = {
        evaluator_id: evaluator,
        profile_name,
        dataset_sample_ids: data.map(({ dataset_sample_id }) => dataset_sample_id),
        limit: mostResults,
        text_limit: excerptCharacters,
      };
      const both = data.length === 0 ? [] : [runs.reference, runs.candidate];
      const results = await Promise.all(
        both.map((run) => presage.results.search({ ...wanted, evaluation_run_id: run }, { signal })),
      ).catch(() => []); // The list is worth more than its texts.
      const byId = new Map(results.flat().map((result) => [result.id, result]));
      return { data: data.map((sample) => withTexts(sample, byId)), next };
    }),
    // Rows must not move while the user reads.
    staleTime: Number.POSITIVE_INFINITY,
  };
}

function withTexts(
  sample: ComparedSample,
  byId: ReadonlyMap<string | null, EvaluationResult>,
): DifferingSample {
  const [before, after] = [sample.reference, sample.candidate].map(({ evaluation_result_id: id }) =>
    byId.get(id),
  );
  const known = before ?? after;
  return {
    ...sample,
    action: readUserTurn(known?.evaluated_model_input ?? "")?.action,
    recorded: known?.evaluated_model_gold_answer,
    said: { reference: before?.evaluated_model_output, candidate: after?.evaluated_model_output },
  };
}

export type ComparedEvaluatorFilter = Pick<ComparedSampleFilter, "evaluator" | "profile_name">;

/** A sample in one of two runs; its pass rate is null if none of its repeats has a verdict. */
export type SampleInRun = Pick<ComparedSample["reference"], "score" | "evaluation_result_id"> & {
  pass_rate: number | null;
};

/** A sample in two runs, for an address whose sample is not in the loaded part of the list. */
export function comparedSampleQuery(
  presage: Presage,
  { reference, candidate }: ComparedPair,
  { evaluator, profile_name }: ComparedEvaluatorFilter,
  place: { trajectory_id: string; step: number },
) {
  const readSample = async (runId: string, signal: AbortSignal) => {
    const repeats = presage.runs.iterateSamples(runId, place, { signal });
    return sampleInRun(await Array.fromAsync(repeats), { evaluator, profile_name });
  };
  return queryOptions({
    queryKey: ["comparisons", "sample", reference, candidate, evaluator, profile_name, place],
    async queryFn({ signal }) {
      const [before, after] = await Promise.all([
        readSample(reference, signal),
        readSample(candidate, signal),
      ]);
      return { reference: before, candidate: after };
    },
    staleTime: freshForMs,
  });
}

/** The mean of the repeats with a verdict, as in a comparison. */
function sampleInRun(
  repeats: readonly RunSample[],
  { evaluator, profile_name }: ComparedEvaluatorFilter,
): SampleInRun {
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

export interface BaselineDifference {
  /** The id of a baseline's finished run on the same revision; null if there is none, undefined if it could not be loaded. */
  baseline: string | null | undefined;
  comparison: Comparison | undefined;
  error: Error | null;
}

/** Compares a finished run with the best baseline, or else with a run of the no-change baseline. Null until that is known. */
export function useBaselineDifference(run: Run, best: RunBaseline | null): BaselineDifference | null {
  const presage = usePresage();
  const isListed = run.dataset_id !== null && !best?.run_id;
  const { data: runs = isListed ? undefined : [], error: listError } = useQuery({
    ...runsOnDatasetQuery(presage, run.dataset_id ?? ""),
    enabled: isListed,
    // A baseline run that was just started ends soon.
    refetchInterval: refreshWhile((others: Run[] | undefined) =>
      others?.some((other) => isBaselineFor(run, other) && isActive(other)) === true ? 1_000 : false,
    ),
  });
  const baseline =
    best?.run_id ?? runs?.find((other) => isBaselineFor(run, other) && other.status === "finished")?.id;
  const { data: comparison, error } = useQuery({
    ...comparisonQuery(presage, [baseline ?? "", run.id]),
    enabled: baseline !== undefined && run.status === "finished",
  });
  if (runs === undefined) return listError && { baseline: undefined, comparison, error: listError };
  return { baseline: baseline ?? null, comparison, error };
}

function isBaselineFor(run: Run, { id, target, mode, revision, provenance: { draw } }: Run): boolean {
  const isNoChange = "baseline" in target && target.baseline === "no-change";
  const isAlike = id !== run.id && mode === run.mode && revision === run.revision;
  // A pilot run covers only some of the samples.
  return isAlike && isNoChange && (!draw || JSON.stringify(draw) === JSON.stringify(run.provenance.draw));
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
