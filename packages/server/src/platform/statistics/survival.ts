import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";
import { type Interval, rounding, z95 } from "./intervals.ts";

interface SurvivalStep {
  step: number;
  /** Trajectories with a verdict at this step that had not diverged before it. */
  atRisk: number;
  diverged: number;
  /** Trajectories about which nothing is known after this step. */
  censored: number;
  /** The estimated share of trajectories that have not diverged after this step. */
  survival: number;
  /** Null where `survival` is 1 or 0. */
  interval: Interval | null;
}

export interface SurvivalCurve {
  /** The steps at which a trajectory diverged or was censored. In between, nothing changes. */
  steps: SurvivalStep[];
  /** The first step after which at most half have not diverged. Null if there is none. */
  median: number | null;
}

/**
 * The time of the first divergence: the product-limit estimator S(t) = Π_{i≤t}(1 − d_i/n_i) (E. L. Kaplan and P. Meier,
 * Journal of the American Statistical Association 53 (1958)). The intervals, at 95 %, are S^exp(±z · √(Σ d_i/(n_i(n_i −
 * d_i))) / ln S): the variance is Greenwood's (1926), on the scale of ln(−ln S), which keeps them within 0 and 1 (J. D.
 * Kalbfleisch and R. L. Prentice, "The Statistical Analysis of Failure Time Data", 1980, chapter 1). They take trajectories
 * as independent, so repeats of one trajectory need `bootstrapSurvival`.
 */
export function survival(trajectories: readonly FirstDivergence[]): SurvivalCurve {
  let atRisk = trajectories.filter(({ lastStep }) => lastStep !== null).length;
  let share = 1;
  let greenwood = 0;
  const steps = endingsByStep(trajectories).map(({ step, diverged, censored }): SurvivalStep => {
    share *= 1 - diverged / atRisk;
    greenwood += diverged / (atRisk * (atRisk - diverged));
    const row = { step, atRisk, diverged, censored, survival: share, interval: logLog(share, greenwood) };
    atRisk -= diverged + censored;
    return row;
  });
  return { steps, median: steps.find((one) => one.survival <= 0.5 + rounding)?.step ?? null };
}

function endingsByStep(
  trajectories: readonly FirstDivergence[],
): { step: number; diverged: number; censored: number }[] {
  const byStep = new Map<number, { diverged: number; censored: number }>();
  for (const { lastStep, ending } of trajectories) {
    if (lastStep === null) continue;
    const one = byStep.get(lastStep) ?? { diverged: 0, censored: 0 };
    one[ending === "diverged" ? "diverged" : "censored"] += 1;
    byStep.set(lastStep, one);
  }
  return [...byStep].map(([step, one]) => ({ step, ...one })).sort((a, b) => a.step - b.step);
}

function logLog(share: number, greenwood: number): SurvivalStep["interval"] {
  if (share >= 1 || share <= 0) return null;
  const reach = (z95 * Math.sqrt(greenwood)) / -Math.log(share);
  return { level: 0.95, lower: share ** Math.exp(reach), upper: share ** Math.exp(-reach) };
}

const resamples = 2000;
/** Bounds the memory, at 16 KB a step. */
const mostSteps = 1000;
/** Draws times steps before other work gets a turn: a few milliseconds. */
const workAtOnce = 500_000;

/**
 * The survival curve where trajectories have repeats, which diverge together. `trajectories` has the repeats of each. The
 * curve is that of all repeats. The intervals, at 95 %, are the percentiles of 2,000 curves, each from as many trajectories
 * drawn with replacement, with all their repeats (B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993,
 * sections 8 and 13.3; C. A. Field and A. H. Welsh, "Bootstrapping Clustered Data", Journal of the Royal Statistical Society
 * B 69 (2007)). There is none where the estimate is 1 or 0, for fewer than two trajectories, and after the first 1,000 steps
 * of the curve.
 */
export async function bootstrapSurvival(
  trajectories: readonly (readonly FirstDivergence[])[],
  seed: number,
): Promise<SurvivalCurve> {
  const curve = survival(trajectories.flat());
  const counted = curve.steps.slice(0, mostSteps);
  const curves = trajectories.length < 2 ? [] : await resampledCurves(trajectories, counted, seed);
  const steps = curve.steps.map((step, index) => {
    const shares = step.survival < 1 && step.survival > 0 ? curves[index]?.sort() : undefined;
    if (shares === undefined) return { ...step, interval: null };
    const interval = { level: 0.95, lower: percentile(shares, 0.025), upper: percentile(shares, 0.975) };
    return { ...step, interval };
  });
  return { ...curve, steps };
}

/** For each step, its survival in all resamples. Trajectory floor(w · G / 2^32) is drawn by a 32-bit word w of the Mersenne Twister. */
async function resampledCurves(
  trajectories: readonly (readonly FirstDivergence[])[],
  steps: SurvivalCurve["steps"],
  seed: number,
): Promise<Float64Array[]> {
  const indexOfStep = new Map(steps.map(({ step }, index) => [step, index]));
  const endings = trajectories.map((repeats) =>
    repeats.flatMap(({ lastStep, ending }) =>
      // Beyond the counted steps, a trajectory stays at risk.
      lastStep === null
        ? []
        : [{ stepIndex: indexOfStep.get(lastStep) ?? steps.length, diverged: ending === "diverged" }],
    ),
  );
  const curves = steps.map(() => new Float64Array(resamples));
  const random = mersenne(seed);
  const leaving = new Float64Array(steps.length + 1);
  const diverging = new Float64Array(steps.length + 1);
  const workOfOne = steps.length + endings.reduce((sum, { length }) => sum + length, 0);
  let work = 0;
  for (let resample = 0; resample < resamples; resample++) {
    work += workOfOne;
    if (work > workAtOnce) {
      await nextTurn();
      work = 0;
    }
    leaving.fill(0);
    diverging.fill(0);
    let atRisk = 0;
    for (let drawn = 0; drawn < endings.length; drawn++) {
      const index = Math.floor(((random.next() >>> 0) / 2 ** 32) * endings.length);
      for (const { stepIndex, diverged } of endings[index] ?? []) {
        atRisk += 1;
        leaving[stepIndex] = (leaving[stepIndex] ?? 0) + 1;
        if (diverged) diverging[stepIndex] = (diverging[stepIndex] ?? 0) + 1;
      }
    }
    let share = 1;
    for (const [stepIndex, curve] of curves.entries()) {
      // A resample keeps its last value once all of its trajectories have ended.
      if (atRisk > 0) share *= 1 - (diverging[stepIndex] ?? 0) / atRisk;
      atRisk -= leaving[stepIndex] ?? 0;
      curve[resample] = share;
    }
  }
  return curves;
}

/** A percentile of sorted values, interpolated between two neighbours (R. J. Hyndman and Y. Fan 1996, type 7). */
function percentile(sorted: Float64Array, probability: number): number {
  const position = (sorted.length - 1) * probability;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export interface StepOutcome {
  step: number;
  outcome: "pass" | "fail" | "prediction-failed" | "evaluator-failed";
}

/** How one free-running trajectory ended. */
export interface FirstDivergence {
  /** The last step with a verdict, which is the first divergence if it `diverged`. Null if even the first step failed. */
  lastStep: number | null;
  ending: "diverged" | "recording-ended" | "prediction-failed" | "evaluator-failed";
}

/**
 * The first step of a trajectory that did not pass. A prediction or an evaluator that failed, and the end of the recording,
 * censor the trajectory before that step: all that is known is that it had not diverged until then. `steps` are in order;
 * there is at least one. With `failuresDiverge`, a failed prediction or evaluator counts as a divergence: the bound for the
 * case that all of them would have been.
 */
export function firstDivergence(
  steps: Iterable<StepOutcome>,
  { failuresDiverge = false } = {},
): FirstDivergence {
  let lastStep: number | null = null;
  for (const { step, outcome } of steps) {
    if (outcome === "fail" || (outcome !== "pass" && failuresDiverge)) {
      return { lastStep: step, ending: "diverged" };
    }
    if (outcome !== "pass") return { lastStep, ending: outcome };
    lastStep = step;
  }
  return { lastStep, ending: "recording-ended" };
}
