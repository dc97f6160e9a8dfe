import type { Comparison, ComparisonCandidate } from "@presage/contract";
import { holm } from "../../platform/statistics/holm.ts";
import { fewestClusters, level } from "../../platform/statistics/paired-difference.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { refuseDeleted } from "../find-run.ts";
import type { SampleMatch } from "../report/match-samples.ts";
import type { RunSamples } from "../report/run-samples.ts";
import { byChanges, byStep, byWhetherChanged } from "../report/strata.ts";
import { type EvaluatorNames, isExternal, isPreliminary, type Run } from "../run.ts";
import {
  type ComparedValues,
  type ComparisonDimensions,
  compareValues,
  meansOf,
  permutationSeed,
} from "./compare-values.ts";
import { indexesOfAll, measureOf, type Values, valuesOf } from "./paired-values.ts";
import { readSidesByName } from "./read-sides-by-name.ts";
import { findEvaluator, readSides, type Side } from "./sides.ts";

/** A comparison without the runs themselves. */
export interface RunDifferences extends Omit<Comparison, "runs"> {
  /** Of each run, how many samples are left out. */
  leftOut: number[];
}

/** One evaluator's differences, before the p-values of all are adjusted. */
type Unadjusted = Omit<Comparison["evaluators"][number], "candidates"> & {
  candidates: UnadjustedCandidate[];
};
type UnadjustedCandidate = ComparedValues & Pick<ComparisonCandidate, "run_id">;

/** How runs differ from the first one, on the samples that all of them have a verdict for. */
export async function compareRuns(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  runs: readonly [Run, ...Run[]],
): Promise<RunDifferences> {
  const reader = store.reader(requester);
  const hasExternal = runs.some(isExternal);
  const { samples, sides } = await (hasExternal ? readSidesByName(reader, runs) : readSides(reader, runs));
  const none = { keys: [], of: new Int32Array(samples.count).fill(-1) };
  const dimensions = {
    step: byStep(samples).dimension,
    // The states of an external run were never compared.
    changed: isExternal(runs[0]) ? none : byWhetherChanged(samples),
    changes: isExternal(runs[0]) ? none : byChanges(samples),
  };
  const compared: Unadjusted[] = [];
  for (const { names } of sides[0].evaluators) {
    const having = sides.filter((side) => findEvaluator(side, names) !== undefined);
    if (having.length < 2) continue;
    compared.push(await compareBy(names, having, samples, dimensions));
  }
  const matches = sides.map(({ match }) => match);
  const inAll = countInAll(matches, samples.count);
  await refuseDeleted({ store }, requester, runs);
  return {
    preliminary: runs.some(isPreliminary),
    evaluators: withAdjusted(compared),
    evaluators_left_out: evaluatorsLeftOut(sides),
    leftOut: matches.map((match) => match.samples - inAll),
    seed: permutationSeed,
    provenance: { statistics: 2 },
  };
}

/** Compares the runs that have this evaluator, the first of which is the reference. */
async function compareBy(
  names: EvaluatorNames,
  sides: readonly Side[],
  samples: RunSamples,
  dimensions: ComparisonDimensions,
): Promise<Unadjusted> {
  const all: { run: Run; values: Values; hasPasses: boolean }[] = [];
  for (const side of sides) {
    const evaluator = findEvaluator(side, names);
    if (evaluator === undefined) continue;
    const values = await valuesOf(await evaluator.outcomes(), side.match.indexes);
    all.push({ run: side.run, values, hasPasses: evaluator.hasPasses });
  }
  const [reference, ...candidates] = all;
  if (reference === undefined) throw new Error("There is no reference to compare with");
  const measured = measureOf(all.map(({ values }) => values));
  const indexesOf = (values: (of: Values) => Float64Array) =>
    indexesOfAll(
      samples.order,
      all.map((one) => values(one.values)),
    );
  const common = {
    samples,
    measured,
    judged: indexesOf(measured.value),
    ended: indexesOf(measured.withFailures),
  };
  const compared: Unadjusted["candidates"] = [];
  for (const { run, values, hasPasses } of candidates) {
    const found = await compareValues(reference.values, values, common, dimensions);
    compared.push({ run_id: run.id, ...found, ...(hasPasses ? {} : { pass_rate: null }) });
  }
  return {
    ...names,
    reference: {
      run_id: reference.run.id,
      ...meansOf(reference.values, common),
      ...(reference.hasPasses ? {} : { pass_rate: null }),
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
      return decide(candidate, adjusted[place - 1] ?? null);
    }),
  }));
}

/** What the test says. Without six trajectories that differ, no signs have a p-value under 0.05. */
function decide(
  { differing, survives, ...candidate }: UnadjustedCandidate,
  p: number | null,
): ComparisonCandidate {
  const isDecided = p !== null && p < level;
  const undecided =
    candidate.trajectories < fewestClusters
      ? "few_trajectories"
      : differing < fewestClusters
        ? "few_differ"
        : "within_noise";
  return {
    ...candidate,
    p_adjusted: p,
    outcome: isDecided ? ((candidate.difference ?? 0) > 0 ? "better" : "worse") : "undecided",
    why: isDecided ? null : undecided,
    survives_one_failure: isDecided ? survives : null,
  };
}

/** What the reference has alone, and what it has not. */
function evaluatorsLeftOut([reference, ...others]: readonly [
  Side,
  ...Side[],
]): Comparison["evaluators_left_out"] {
  const leftOut = ({ run, evaluators }: Side, among: readonly Side[]) =>
    evaluators
      .filter(({ names }) => !among.some((side) => findEvaluator(side, names) !== undefined))
      .map(({ names }) => ({ run_id: run.id, ...names }));
  return [...leftOut(reference, others), ...others.flatMap((side) => leftOut(side, [reference]))];
}

/** How many samples all runs' revisions have. */
function countInAll(matches: readonly SampleMatch[], samples: number): number {
  let count = 0;
  for (let index = 0; index < samples; index++) {
    if (matches.every(({ indexes }) => (indexes[index] ?? -1) >= 0)) count += 1;
  }
  return count;
}
