import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunCalibration } from "@presage/contract";
import {
  type Bin,
  binsOf,
  calibrationErrorOf,
  calibrationErrorsWithout,
  expectedCalibrationError,
  type Groups,
  type JudgedConfidences,
  placesToLeaveOut,
  type SortedConfidences,
  sortConfidences,
} from "./calibration-error.ts";
import {
  type ClusteredFigure,
  type ClusterSum,
  createClusterSums,
  effectiveClusters,
  jackknifeError,
  jackknifeInterval,
  momentsOfClusters,
  rateInterval,
  whyNoInterval,
  wilsonBounds,
  z95,
} from "./intervals.ts";

/** Figures that show how far confidences may be trusted. */
type ConfidenceCard = Pick<
  RunCalibration,
  "brier" | "ece" | "auroc" | "reliability" | "risk_coverage" | "aurc" | "coverage_at_risk"
>;

/** With fewer predictions, no figure has a value. */
const fewestJudged = 50;
/** The share of wrong predictions that `coverage_at_risk` allows. */
const riskLimit = 0.05;

/** The card of some predictions. Each figure's interval leaves out one trajectory at a time. */
export async function confidenceCard(judged: JudgedConfidences): Promise<ConfidenceCard> {
  const sorted = await sortConfidences(judged);
  const { count, clusters } = sorted;
  await nextTurn();
  const leftOut = placesToLeaveOut(sorted, clusters);
  const sizes = Array.from({ length: clusters }, (_, cluster) => sizeOf(leftOut, cluster));
  const effective = effectiveClusters(momentsOfClusters(sizes.map((size) => ({ count: size, sum: 0 }))));
  const made = { count, trajectories: clusters, effective_trajectories: count === 0 ? null : effective };
  if (count < fewestJudged) return emptyCard(made);
  const some = binsOf(sorted);
  const figure = (value: number, without: Float64Array): ClusteredFigure => {
    const { interval, why } = jackknifeInterval(value, without, effective);
    return { value, interval, ...made, note: why === null ? null : whyNoInterval[why] };
  };
  await nextTurn();
  const brier = brierScore(sorted, leftOut);
  await nextTurn();
  const area = areaUnderCurve(sorted, leftOut);
  await nextTurn();
  const reliability = reliabilityOf(sorted, leftOut, some);
  await nextTurn();
  const risk = await riskCoverage(sorted, riskLimit);
  return {
    brier: {
      ...figure(brier.value, brier.without),
      parts: brierParts(brier.value, some, count),
    },
    ece: {
      ...figure(calibrationErrorOf(some), await calibrationErrorsWithout(sorted, leftOut)),
      expected: await expectedCalibrationError(sorted, some),
    },
    auroc:
      area === undefined ? { ...noFigure(made), note: oneClass(sorted) } : figure(area.value, area.without),
    reliability,
    risk_coverage: risk.points,
    aurc: figure(areaUnderRisk(sorted), await areasWithout(sorted)),
    coverage_at_risk: {
      ...made,
      value: risk.atRisk?.coverage ?? 0,
      interval: null,
      note: risk.atRisk === undefined ? noShare : boundedRisk,
      risk: riskLimit,
      threshold: risk.atRisk?.threshold ?? null,
    },
  };
}

const percentOfRisk = `${100 * riskLimit} %`;
const noShare = `No share of the predictions has a risk whose interval ends at or below ${percentOfRisk}.`;
const boundedRisk = "It has no interval of its own: it goes by the upper end of the risk's.";

type MadeOf = Pick<ClusteredFigure, "count" | "trajectories" | "effective_trajectories">;

function noFigure(made: MadeOf): ClusteredFigure {
  const note = `There are ${made.count} predictions with a confidence and a verdict; the figures take ${fewestJudged}.`;
  return { value: null, interval: null, ...made, note };
}

function emptyCard(made: MadeOf): ConfidenceCard {
  const none = noFigure(made);
  return {
    brier: { ...none, parts: null },
    ece: { ...none, expected: null },
    auroc: none,
    reliability: [],
    risk_coverage: [],
    aurc: none,
    coverage_at_risk: { ...none, risk: riskLimit, threshold: null },
  };
}

function oneClass({ count, rightBefore }: SortedConfidences): string {
  const verdict = rightBefore[count] === count ? "right" : "wrong";
  return `All predictions are ${verdict}, so that none can be told from others.`;
}

function sizeOf({ starts }: Groups, group: number): number {
  return (starts[group + 1] ?? 0) - (starts[group] ?? 0);
}

/** A figure of all predictions, and the figure without each trajectory in turn. */
interface WithoutEach {
  value: number;
  without: Float64Array;
}

/** The mean squared difference of confidence and verdict (G. W. Brier, Monthly Weather Review 78 (1950)). */
function brierScore({ count, confidences, right }: SortedConfidences, leftOut: Groups): WithoutEach {
  const without = new Float64Array(leftOut.starts.length - 1);
  let total = 0;
  for (let group = 0; group < without.length; group++) {
    for (let at = leftOut.starts[group] ?? 0; at < (leftOut.starts[group + 1] ?? 0); at++) {
      const place = leftOut.members[at] ?? 0;
      without[group] = (without[group] ?? 0) + ((confidences[place] ?? 0) - (right[place] ?? 0)) ** 2;
    }
    total += without[group] ?? 0;
  }
  return {
    value: total / count,
    without: without.map((sum, group) => (total - sum) / (count - sizeOf(leftOut, group))),
  };
}

/** Murphy's decomposition (Journal of Applied Meteorology 12 (1973)). Confidences that differ within a bin add to the score. */
function brierParts(brier: number, some: readonly Bin[], count: number) {
  const rate = some.reduce((sum, { right }) => sum + right, 0) / count;
  const mean = (of: (bin: Bin) => number) =>
    some.reduce((sum, bin) => sum + of(bin) ** 2 / bin.count, 0) / count;
  const reliability = mean(({ confidence, right }) => confidence - right);
  const resolution = mean((bin) => bin.right - rate * bin.count);
  const uncertainty = rate * (1 - rate);
  return {
    reliability,
    resolution,
    uncertainty,
    within_bins: brier - reliability + resolution - uncertainty,
  };
}

/**
 * The area under the receiver operating characteristic: the share of pairs of a right and a wrong prediction in which the right one has
 * the higher confidence, ties counting half. Leaving out a trajectory removes all pairs that it is part of (N. A. Obuchowski, Biometrics 53
 * (1997)). Undefined if all are right, or all wrong.
 */
function areaUnderCurve(sorted: SortedConfidences, { members, starts }: Groups): WithoutEach | undefined {
  const { count, tieStarts, tieEnds, right, rightBefore } = sorted;
  const rightOnes = rightBefore[count] ?? 0;
  const wrongOnes = count - rightOnes;
  if (rightOnes === 0 || wrongOnes === 0) return undefined;
  /** The pairs of a prediction that are in the right order. */
  const pairsOf = (place: number) => {
    const [start, end] = [tieStarts[place] ?? 0, tieEnds[place] ?? 0];
    const rightToStart = rightBefore[start] ?? 0;
    const rightToEnd = rightBefore[end] ?? 0;
    if (right[place] === 1) return start - rightToStart + (end - start - rightToEnd + rightToStart) / 2;
    return rightOnes - rightToEnd + (rightToEnd - rightToStart) / 2;
  };
  let pairs = 0;
  for (let place = 0; place < count; place++) if (right[place] === 1) pairs += pairsOf(place);
  const without = new Float64Array(starts.length - 1);
  for (let group = 0; group < without.length; group++) {
    const left = members.subarray(starts[group], starts[group + 1]);
    let kept = pairs;
    let [leftRight, leftWrong] = [0, 0];
    for (let at = 0; at < left.length; ) {
      const end = tieEnds[left[at] ?? 0] ?? 0;
      let [tiedRight, tiedWrong] = [0, 0];
      for (; at < left.length && (left[at] ?? 0) < end; at++) {
        const place = left[at] ?? 0;
        kept -= pairsOf(place);
        if (right[place] === 1) tiedRight += 1;
        else tiedWrong += 1;
      }
      // Adds back pairs within the trajectory, which have been subtracted twice.
      kept += tiedRight * (leftWrong + tiedWrong / 2);
      leftRight += tiedRight;
      leftWrong += tiedWrong;
    }
    without[group] = kept / ((rightOnes - leftRight) * (wrongOnes - leftWrong));
  }
  return { value: pairs / (rightOnes * wrongOnes), without };
}

/** The bins, each with the interval of its pass rate. */
function reliabilityOf(sorted: SortedConfidences, leftOut: Groups, some: readonly Bin[]) {
  const binOf = new Uint8Array(sorted.count);
  for (const [index, { from, to }] of some.entries()) binOf.fill(index, from, to);
  const sums = createClusterSums(some.length);
  for (let group = 0; group + 1 < leftOut.starts.length; group++) {
    for (let at = leftOut.starts[group] ?? 0; at < (leftOut.starts[group + 1] ?? 0); at++) {
      const place = leftOut.members[at] ?? 0;
      sums.add(binOf[place] ?? 0, group, sorted.right[place] ?? 0);
    }
  }
  const ended = sums.end();
  return some.map(({ from, to, count, right, confidence }, index) => {
    const group = ended.get(index);
    return {
      lower: sorted.confidences[from] ?? 0,
      upper: sorted.confidences[to - 1] ?? 0,
      count,
      confidence: confidence / count,
      pass_rate: right / count,
      interval: group === undefined ? null : rateInterval(group, group.error),
    };
  });
}

type RiskPoint = RunCalibration["risk_coverage"][number];

interface RiskCoverage {
  /** About one for each hundredth of coverage, the most confident first. */
  points: RiskPoint[];
  /** The largest share whose risk interval ends at or below the limit; undefined if there is none. */
  atRisk: RiskPoint | undefined;
}

/** With more predictions, only this many thresholds are tried for the largest share. */
const mostThresholds = 2_000;
const shownPoints = 100;
const clustersAtOnce = 200_000;

/** Risk by coverage (Y. Geifman and R. El-Yaniv, NeurIPS 2017). Predictions of equal confidence are kept or dropped together. */
async function riskCoverage(sorted: SortedConfidences, limit: number): Promise<RiskCoverage> {
  const { count, tieStarts, confidences, right, trajectories, rightBefore } = sorted;
  const clusters: (ClusterSum | undefined)[] = [];
  const kept: ClusterSum[] = [];
  const points: RiskPoint[] = [];
  let atRisk: RiskPoint | undefined;
  let [tried, shown, work] = [0, 0, 0];
  for (let place = count - 1; place >= 0; place--) {
    const trajectory = trajectories[place] ?? 0;
    const cluster = clusters[trajectory] ?? { count: 0, sum: 0 };
    if (clusters[trajectory] === undefined) kept.push(cluster);
    clusters[trajectory] = cluster;
    cluster.count += 1;
    cluster.sum += 1 - (right[place] ?? 0);
    if (tieStarts[place] !== place) continue;
    const coverage = (count - place) / count;
    if (place > 0 && coverage * mostThresholds < tried + 1 && count > mostThresholds) continue;
    tried = Math.floor(coverage * mostThresholds);
    const isShown = place === 0 || coverage * shownPoints >= shown + 1 || points.length === 0;
    const risk = (count - place - ((rightBefore[count] ?? 0) - (rightBefore[place] ?? 0))) / (count - place);
    // No interval ends lower than the one for independent verdicts.
    if (!isShown && wilsonBounds(risk, count - place, z95).upper > limit) continue;
    const interval = rateInterval(momentsOfClusters(kept), jackknifeError(kept));
    const point = { threshold: confidences[place] ?? 0, coverage, risk, interval };
    if (isShown) {
      points.push(point);
      shown = Math.floor(coverage * shownPoints);
    }
    if (interval !== null && interval.upper <= limit) atRisk = point;
    work += kept.length;
    if (work < clustersAtOnce) continue;
    work = 0;
    await nextTurn();
  }
  return { points, atRisk };
}

/** The area under risk by coverage: the mean risk of the shares that end at each prediction, with equal confidences taken together. */
function areaUnderRisk({ count, tieStarts, tieEnds, rightBefore }: SortedConfidences): number {
  let sum = 0;
  for (let place = count - 1; place >= 0; place = (tieStarts[place] ?? 0) - 1) {
    const start = tieStarts[place] ?? 0;
    const wrong = count - start - ((rightBefore[count] ?? 0) - (rightBefore[start] ?? 0));
    sum += (((tieEnds[place] ?? 0) - start) * wrong) / (count - start);
  }
  return sum / count;
}

/** Steps in total: two seconds' work. With more, several trajectories are left out at a time. */
const steps = 400_000_000;
const fewestGroups = 100;
const stepsAtOnce = 2_000_000;

/** The area without each trajectory, or without several at a time where that would take too long. */
async function areasWithout(sorted: SortedConfidences): Promise<Float64Array> {
  const { count, clusters } = sorted;
  const groups = Math.min(clusters, Math.max(fewestGroups, Math.floor(steps / count)));
  const leftOut = placesToLeaveOut(sorted, groups);
  const areas = new Float64Array(groups);
  let work = 0;
  for (let group = 0; group < groups; group++) {
    areas[group] = areaWithout(sorted, leftOut, group);
    work += count;
    if (work < stepsAtOnce) continue;
    work = 0;
    await nextTurn();
  }
  return areas;
}

function areaWithout(sorted: SortedConfidences, { members, starts }: Groups, group: number): number {
  const { count, tieStarts, tieEnds, right, rightBefore } = sorted;
  const first = starts[group] ?? 0;
  let next = (starts[group + 1] ?? 0) - 1;
  const size = next - first + 1;
  let [left, leftRight, sum] = [0, 0, 0];
  for (let place = count - 1; place >= 0; ) {
    const start = tieStarts[place] ?? 0;
    let tied = (tieEnds[place] ?? 0) - start;
    for (; next >= first && (members[next] ?? 0) >= start; next--) {
      left += 1;
      leftRight += right[members[next] ?? 0] ?? 0;
      tied -= 1;
    }
    const kept = count - start - left;
    const keptRight = (rightBefore[count] ?? 0) - (rightBefore[start] ?? 0) - leftRight;
    if (kept > 0) sum += (tied * (kept - keptRight)) / kept;
    place = start - 1;
  }
  return size === count ? Number.NaN : sum / (count - size);
}
