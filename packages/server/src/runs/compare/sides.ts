import type { Database } from "../../platform/storage/schema/tables.ts";
import { matchSamples, type SampleMatch } from "../report/match-samples.ts";
import { type Outcomes, readFailedPredictions, readOutcomes } from "../report/read-outcomes.ts";
import { type RunSamples, readRunSamples } from "../report/run-samples.ts";
import { type EvaluatorNames, isSameNamed, type Run, toEvaluatorNames } from "../run.ts";

/** One of the runs that are compared. */
export interface Side {
  run: Run;
  /** Where it has the reference's samples. */
  match: SampleMatch;
  evaluators: readonly SideEvaluator[];
}

export interface SideEvaluator {
  names: EvaluatorNames;
  /** Whether its results say if a sample passed, and not only a score. */
  hasPasses: boolean;
  /** By the run's own samples. */
  outcomes(): Outcomes | Promise<Outcomes>;
}

/** The runs in their order, with the samples of the first one. */
export interface Sides {
  samples: RunSamples;
  sides: [Side, ...Side[]];
}

export function findEvaluator({ evaluators }: Side, names: EvaluatorNames): SideEvaluator | undefined {
  return evaluators.find((one) => isSameNamed(one.names, names));
}

/** Runs of datasets. Their samples are matched by what they are. */
export async function readSides(reader: Database, runs: readonly [Run, ...Run[]]): Promise<Sides> {
  const [reference, ...others] = runs;
  const samples = await readRunSamples(reader, reference.dataset?.revisionId ?? 0);
  const [own, ...matches] = await matchSamples(reader, reference, runs, samples.count);
  if (own === undefined) throw new Error("There is no reference to compare with");
  const sides: Sides["sides"] = [await toSide(reader, reference, own)];
  for (const [index, run] of others.entries()) {
    const match = matches[index];
    if (match !== undefined) sides.push(await toSide(reader, run, match));
  }
  return { samples, sides };
}

export async function toSide(reader: Database, run: Run, match: SampleMatch): Promise<Side> {
  const failed = await readFailedPredictions(reader, run, match.samples);
  return {
    run,
    match,
    evaluators: run.evaluators.map((evaluator, index) => ({
      names: toEvaluatorNames(evaluator),
      hasPasses: true,
      outcomes: () => readOutcomes(reader, run, index, failed),
    })),
  };
}
