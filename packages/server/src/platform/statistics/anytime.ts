import { type ClusteredMoments, clusteredError, effectiveClusters, effectiveTrials } from "./intervals.ts";

/** The number of clusters at which the interval is narrowest. */
const plannedClusters = 100;
const halvings = 50;

/**
 * The interval of a rate that holds at all looks together with a probability of 1 − α. Needs at least two clusters.
 *
 * It contains every rate p with m · KL(ȳ, p) ≤ c²/2: m is the number of effective trials, KL the relative entropy of two verdicts, and c =
 * √(2(Gρ² + 1)/(Gρ²) · ln(√(Gρ² + 1)/α)) with ρ² = (−2 ln α + ln(−2 ln α) + 1)/100 the asymptotic confidence sequence's for G effective
 * clusters (I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, "Time-uniform central limit theory and asymptotic confidence
 * sequences", Annals of Statistics 52 (2024)). Near ȳ this is ȳ ± c · SE; at low rates ± is too wide, and Wilson's form too narrow.
 */
export function anytimeRate(moments: ClusteredMoments, alpha: number) {
  const rate = moments.sum / moments.count;
  const trials = effectiveTrials(moments, clusteredError(moments) ?? 0);
  const most = evidenceNeeded(effectiveClusters(moments), alpha);
  const isRefuted = (p: number) => trials * relativeEntropy(rate, p) > most;

  /** The last rate that is not refuted, on the way from the rate to 0 or 1. */
  function end(refuted: number): number {
    let [kept, beyond] = [rate, refuted];
    for (let halving = 0; halving < halvings; halving += 1) {
      const middle = (kept + beyond) / 2;
      if (isRefuted(middle)) beyond = middle;
      else kept = middle;
    }
    return beyond;
  }

  return {
    isAbove: (limit: number) => rate > limit && isRefuted(limit),
    isBelow: (limit: number) => rate < limit && isRefuted(limit),
    interval: () => ({ level: 1 - alpha, lower: rate === 0 ? 0 : end(0), upper: rate === 1 ? 1 : end(1) }),
  };
}

/** c²/2. */
function evidenceNeeded(clusters: number, alpha: number): number {
  const deviance = -2 * Math.log(alpha);
  const spread = (clusters * (deviance + Math.log(deviance) + 1)) / plannedClusters;
  return ((spread + 1) / spread) * Math.log(Math.sqrt(spread + 1) / alpha);
}

function relativeEntropy(rate: number, p: number): number {
  const of = (one: number, other: number) => (one === 0 ? 0 : one * Math.log(one / other));
  return of(rate, p) + of(1 - rate, 1 - p);
}
