import { rounding } from "./clustered-interval.ts";
import type { FirstDivergence } from "./first-divergence.ts";
import { z95 } from "./wilson-interval.ts";

export interface SurvivalStep {
  step: number;
  /** Trajectories with a verdict at this step that had not diverged before it. */
  atRisk: number;
  diverged: number;
  /** Trajectories of which nothing is known after this step. */
  censored: number;
  /** The estimated share of trajectories that have not diverged after this step. */
  survival: number;
  /** Null where `survival` is 1 or 0. */
  interval: { level: number; lower: number; upper: number } | null;
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
