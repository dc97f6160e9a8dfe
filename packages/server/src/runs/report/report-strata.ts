import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunEvaluatorReport, RunFigures, RunStratum } from "@presage/contract";
import { hasOutcomes, meanWithFailures, sumsBy, toFigures } from "./figures.ts";
import { firstOf } from "./first-of.ts";
import type { Outcomes } from "./read-outcomes.ts";
import type { RunSamples } from "./run-samples.ts";
import {
  byChanges,
  byStep,
  byTag,
  byTrajectory,
  byVerb,
  byWhetherChanged,
  type Dimension,
  together,
} from "./strata.ts";

const mostTrajectories = 200;

/** The groups that a revision's samples are in, the same for each evaluator. */
export interface ReportDimensions {
  step: ReturnType<typeof byStep>;
  trajectory: Dimension;
  changed: Dimension;
  changes: Dimension;
  verb: Dimension;
  tag: Awaited<ReturnType<typeof byTag>>;
}

export async function reportDimensions(samples: RunSamples): Promise<ReportDimensions> {
  const step = byStep(samples);
  await nextTurn();
  const changed = byWhetherChanged(samples);
  const changes = byChanges(samples);
  await nextTurn();
  const verb = await byVerb(samples);
  await nextTurn();
  return { step, trajectory: byTrajectory(samples), changed, changes, verb, tag: await byTag(samples) };
}

/** The figures of all samples, and of the groups that there is something about. */
export async function reportOutcomes(
  dimensions: ReportDimensions,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<RunFigures & Pick<RunEvaluatorReport, "strata" | "strata_left_out">> {
  const some = (dimension: Dimension) => strataOf(dimension, samples, outcomes);
  const worst = await worstTrajectories(dimensions.trajectory, samples, outcomes);
  return {
    ...(await overallFigures(samples, outcomes)),
    strata: {
      step: await some(dimensions.step.dimension),
      trajectory: worst.strata,
      changed: await fixedStrata(dimensions.changed, samples, outcomes),
      changes: await fixedStrata(dimensions.changes, samples, outcomes),
      verb: await some(dimensions.verb),
      tag: await some(dimensions.tag.dimension),
    },
    strata_left_out: {
      step: dimensions.step.leftOut,
      trajectory: worst.leftOut,
      tag: dimensions.tag.leftOut,
    },
  };
}

export async function overallFigures(samples: RunSamples, outcomes: Outcomes): Promise<RunFigures> {
  return toFigures(await sumsBy(together(samples), samples, outcomes), 0);
}

/** The groups with a verdict or a failure, in the order of their keys. */
export async function strataOf(
  dimension: Dimension,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<RunStratum[]> {
  const sums = await sumsBy(dimension, samples, outcomes);
  return dimension.keys.flatMap((key, group) =>
    hasOutcomes(sums, group) ? { key, ...toFigures(sums, group) } : [],
  );
}

/** Groups that are known beforehand are shown even if they are empty; the last one, of what is unknown, is not. */
async function fixedStrata(
  dimension: Dimension,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<RunStratum[]> {
  const sums = await sumsBy(dimension, samples, outcomes);
  return dimension.keys.flatMap((key, group) =>
    group < dimension.keys.length - 1 || hasOutcomes(sums, group) ? { key, ...toFigures(sums, group) } : [],
  );
}

/** There may be many trajectories, so that figures are made of those only that are shown. */
async function worstTrajectories(
  dimension: Dimension,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<{ strata: RunStratum[]; leftOut: number }> {
  const sums = await sumsBy(dimension, samples, outcomes);
  let known = 0;
  function* withMeans() {
    for (const [group, key] of dimension.keys.entries()) {
      const mean = meanWithFailures(sums, group);
      if (mean === null) continue;
      known += 1;
      yield { key, group, mean };
    }
  }
  const worst = await firstOf(
    withMeans(),
    mostTrajectories,
    (a, b) => a.mean - b.mean || (a.key < b.key ? -1 : 1),
  );
  return {
    strata: worst.map(({ key, group }) => ({ key, ...toFigures(sums, group) })),
    leftOut: known - worst.length,
  };
}
