import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunCalibration } from "@presage/contract";
import {
  type ClusterSum,
  jackknifeError,
  momentsOfClusters,
  rateInterval,
  wilsonBounds,
  z95,
} from "./intervals.ts";
import { type Groups, placesToLeaveOut, type SortedConfidences } from "./sorted-confidences.ts";

type RiskPoint = RunCalibration["risk_coverage"][number];

export interface RiskCoverage {
  /** About one for each hundredth of coverage, the most confident first. */
  points: RiskPoint[];
  /** The largest share whose risk has its upper end at or below the limit; undefined if there is none. */
  atRisk: RiskPoint | undefined;
}

/** Thresholds that are tried for the largest share, where there are more. */
const mostThresholds = 2_000;
const shownPoints = 100;
const clustersAtOnce = 200_000;

/** Risk by coverage (Y. Geifman and R. El-Yaniv, NeurIPS 2017). Predictions of one confidence are kept or left together. */
export async function riskCoverage(sorted: SortedConfidences, limit: number): Promise<RiskCoverage> {
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
    // No interval ends lower than that of independent verdicts.
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

/** The area under risk by coverage: the mean risk of the shares that end at each prediction, those of one confidence together. */
export function areaUnderRisk({ count, tieStarts, tieEnds, rightBefore }: SortedConfidences): number {
  let sum = 0;
  for (let place = count - 1; place >= 0; place = (tieStarts[place] ?? 0) - 1) {
    const start = tieStarts[place] ?? 0;
    const wrong = count - start - ((rightBefore[count] ?? 0) - (rightBefore[start] ?? 0));
    sum += (((tieEnds[place] ?? 0) - start) * wrong) / (count - start);
  }
  return sum / count;
}

/** Steps in all: two seconds' work. With more, trajectories are left out several together. */
const steps = 400_000_000;
const fewestGroups = 100;
const stepsAtOnce = 2_000_000;

/** The area without each trajectory, or without several together where that would take too long. */
export async function areasWithout(sorted: SortedConfidences): Promise<Float64Array> {
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
