import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";
import type { FirstDivergence } from "./first-divergence.ts";
import { type SurvivalCurve, survival } from "./survival.ts";

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
      // A resample without trajectories that go so far keeps its last value.
      if (atRisk > 0) share *= 1 - (diverging[stepIndex] ?? 0) / atRisk;
      atRisk -= leaving[stepIndex] ?? 0;
      curve[resample] = share;
    }
  }
  return curves;
}

/** Of sorted values, interpolated between two neighbours (R. J. Hyndman and Y. Fan 1996, type 7). */
function percentile(sorted: Float64Array, probability: number): number {
  const position = (sorted.length - 1) * probability;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}
