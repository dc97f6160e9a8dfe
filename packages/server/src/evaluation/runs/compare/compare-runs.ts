import type { Comparison, ComparisonCandidate } from "@presage/contract";
import type { Requester } from "../../../storage/reader.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { holm } from "../../statistics/holm.ts";
import { matchSamples, type SampleMatch } from "../outcomes/match-samples.ts";
import { readFailedPredictions, readOutcomes } from "../outcomes/read-outcomes.ts";
import { type RunSamples, readRunSamples } from "../outcomes/run-samples.ts";
import { byChanges, byStep, byWhetherChanged } from "../outcomes/strata.ts";
import { isSameEvaluator, type Run, type RunEvaluator, toEvaluatorNames } from "../run.ts";
import { type ComparisonDimensions, compareValues, permutationSeed } from "./compare-values.ts";
import { indexesOfAll, meanOf, type Values, valuesOf } from "./paired-values.ts";

/** A comparison without the runs themselves. */
export interface RunDifferences extends Omit<Comparison, "runs"> {
  /** Of each run, how many samples are left out. */
  leftOut: number[];
}

/** One evaluator's differences, before the p-values of all are adjusted. */
type Unadjusted = Omit<Comparison["evaluators"][number], "candidates"> & {
  candidates: Omit<ComparisonCandidate, "p_adjusted">[];
};

/** One of the runs, and where it has the reference's samples. */
interface Side {
  run: Run;
  match: SampleMatch;
  failed: Uint8Array;
}

const bytesPerSample = 200;
const bytesPerSampleOfRun = 60;
const bytesPerRepeat = 2;
const bytesOfComparison = 4_000_000;

/** The memory that a comparison takes while it is made. */
export function comparisonMemoryBytes(runs: readonly Pick<Run, "counts" | "repeats">[]): number {
  return runs.reduce((sum, { counts, repeats }, index) => {
    const perSample = bytesPerSampleOfRun + (index === 0 ? bytesPerSample : 0);
    return sum + (counts.samples / repeats) * perSample + counts.samples * bytesPerRepeat;
  }, bytesOfComparison);
}

/** How runs differ from the first one, on the samples that all of them have a verdict for. */
export async function compareRuns(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  runs: readonly [Run, ...Run[]],
): Promise<RunDifferences> {
  const reader = store.reader(requester);
  const [reference] = runs;
  const samples = await readRunSamples(reader, reference.dataset?.revisionId ?? 0);
  const matches = await matchSamples(reader, reference, runs, samples.count);
  const sides: Side[] = [];
  for (const [place, run] of runs.entries()) {
    const match = matches[place];
    if (match === undefined) continue;
    sides.push({ run, match, failed: await readFailedPredictions(reader, run, match.samples) });
  }
  const dimensions = {
    step: byStep(samples).dimension,
    changed: byWhetherChanged(samples),
    changes: byChanges(samples),
  };
  const compared: Unadjusted[] = [];
  for (const evaluator of reference.evaluators) {
    const having = sides.filter(({ run }) => run.evaluators.some((one) => isSameEvaluator(one, evaluator)));
    if (having.length < 2) continue;
    compared.push(await compareBy(reader, evaluator, having, samples, dimensions));
  }
  const inAll = countInAll(matches, samples.count);
  return {
    evaluators: withAdjusted(compared),
    evaluators_left_out: evaluatorsLeftOut(runs),
    leftOut: matches.map((match) => match.samples - inAll),
    seed: permutationSeed,
  };
}

/** Compares the runs that have this evaluator, the first of which is the reference. */
async function compareBy(
  reader: Database,
  evaluator: RunEvaluator,
  sides: readonly Side[],
  samples: RunSamples,
  dimensions: ComparisonDimensions,
): Promise<Unadjusted> {
  const all: { run: Run; values: Values }[] = [];
  for (const { run, match, failed } of sides) {
    const place = run.evaluators.findIndex((one) => isSameEvaluator(one, evaluator));
    const outcomes = await readOutcomes(reader, run, place, failed);
    all.push({ run, values: await valuesOf(outcomes, match.indexes) });
  }
  const [reference, ...candidates] = all;
  if (reference === undefined) throw new Error("There is no reference to compare with");
  const common = {
    samples,
    judged: indexesOfAll(
      samples.order,
      all.map(({ values }) => values.score),
    ),
    ended: indexesOfAll(
      samples.order,
      all.map(({ values }) => values.withFailures),
    ),
  };
  const compared: Unadjusted["candidates"] = [];
  for (const { run, values } of candidates) {
    const found = await compareValues(reference.values, values, common, dimensions);
    compared.push({ run_id: run.id, ...found });
  }
  return {
    ...toEvaluatorNames(evaluator),
    reference: {
      run_id: reference.run.id,
      mean: meanOf(reference.values.score, common.judged),
      pass_rate: meanOf(reference.values.pass, common.judged),
      count: common.judged.length,
      mean_failures_as_zero: meanOf(reference.values.withFailures, common.ended),
    },
    candidates: compared,
  };
}

/** Holm's correction is over all evaluators and candidates. */
function withAdjusted(compared: readonly Unadjusted[]): Comparison["evaluators"] {
  const adjusted = holm(compared.flatMap(({ candidates }) => candidates.map((one) => one.p_value)));
  let place = 0;
  return compared.map(({ candidates, ...evaluator }) => ({
    ...evaluator,
    candidates: candidates.map((candidate) => {
      place += 1;
      return { ...candidate, p_adjusted: adjusted[place - 1] ?? null };
    }),
  }));
}

/** What the reference has alone, and what it has not. */
function evaluatorsLeftOut([reference, ...others]: readonly [
  Run,
  ...Run[],
]): Comparison["evaluators_left_out"] {
  const has = (run: Run, evaluator: RunEvaluator) =>
    run.evaluators.some((one) => isSameEvaluator(one, evaluator));
  const alone = reference.evaluators.filter((evaluator) => !others.some((run) => has(run, evaluator)));
  return [
    ...alone.map((evaluator) => ({ run_id: reference.id, ...toEvaluatorNames(evaluator) })),
    ...others.flatMap((run) =>
      run.evaluators
        .filter((evaluator) => !has(reference, evaluator))
        .map((evaluator) => ({ run_id: run.id, ...toEvaluatorNames(evaluator) })),
    ),
  ];
}

/** How many samples all runs' revisions have. */
function countInAll(matches: readonly SampleMatch[], samples: number): number {
  let count = 0;
  for (let index = 0; index < samples; index++) {
    if (matches.every(({ indexes }) => (indexes[index] ?? -1) >= 0)) count += 1;
  }
  return count;
}
