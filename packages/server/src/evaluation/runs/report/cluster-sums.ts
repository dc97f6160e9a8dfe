import {
  type ClusteredMoments,
  effectiveClusters,
  jackknifeErrorOf,
  leftOutSquare,
} from "../../statistics/clustered-interval.ts";

/** Sums of values by group and cluster: what each group's mean, standard error and intervals are made of. */
export interface ClusterSums {
  /** Adds a value; those of a group's cluster follow one another. */
  add(group: number, cluster: number, value: number): void;
  /** To be called once all values are added. */
  end(): void;
  momentsOf(group: number): ClusteredMoments;
  /** The jackknife's standard error of a group's mean. Null for fewer than two clusters. */
  errorOf(group: number): number | null;
  /** The values of a group's largest cluster. */
  largestOf(group: number): number;
}

/** In typed arrays, as there may be a thousand groups, and a million clusters in all. */
export function createClusterSums(groups: number): ClusterSums {
  const numbers = () => new Float64Array(groups);
  const current = new Int32Array(groups).fill(-1);
  const [openCount, openSum, clusters, count, sum] = [numbers(), numbers(), numbers(), numbers(), numbers()];
  const [sumSquares, countSums, countSquares] = [numbers(), numbers(), numbers()];
  const [largest, leftOutSquares] = [numbers(), numbers()];
  // The jackknife needs each cluster once the sums of all are known.
  const ended: { groups: number[]; counts: number[]; sums: number[] } = { groups: [], counts: [], sums: [] };

  function endCluster(group: number): void {
    const n = openCount[group] ?? 0;
    if (n === 0) return;
    const s = openSum[group] ?? 0;
    add(clusters, group, 1);
    add(count, group, n);
    add(sum, group, s);
    add(sumSquares, group, s * s);
    add(countSums, group, n * s);
    add(countSquares, group, n * n);
    largest[group] = Math.max(largest[group] ?? 0, n);
    ended.groups.push(group);
    ended.counts.push(n);
    ended.sums.push(s);
    openCount[group] = 0;
    openSum[group] = 0;
  }

  return {
    add(group, cluster, value) {
      if (current[group] !== cluster) {
        endCluster(group);
        current[group] = cluster;
      }
      add(openCount, group, 1);
      add(openSum, group, value);
    },
    end() {
      for (let group = 0; group < groups; group++) endCluster(group);
      const all = { count: 0, sum: 0 };
      for (const [index, group] of ended.groups.entries()) {
        all.count = count[group] ?? 0;
        all.sum = sum[group] ?? 0;
        add(leftOutSquares, group, leftOutSquare(all, ended.counts[index] ?? 0, ended.sums[index] ?? 0));
      }
    },
    momentsOf: (group) => ({
      clusters: clusters[group] ?? 0,
      count: count[group] ?? 0,
      sum: sum[group] ?? 0,
      sumSquares: sumSquares[group] ?? 0,
      countSums: countSums[group] ?? 0,
      countSquares: countSquares[group] ?? 0,
    }),
    errorOf: (group) => jackknifeErrorOf(clusters[group] ?? 0, leftOutSquares[group] ?? 0),
    largestOf: (group) => largest[group] ?? 0,
  };
}

/** A warning of what so few clusters, or clusters so unlike, cannot show. Null from 60 on. */
export function noteOn(moments: ClusteredMoments, largest: number): string | null {
  const { clusters, count } = moments;
  if (clusters === 0) return null;
  if (clusters === 1) return "One trajectory only: there is no interval.";
  if (effectiveClusters(moments) < 2) {
    return `One trajectory has ${percent(largest / count)} of the samples: the figure is mostly about it.`;
  }
  if (clusters >= manyTrajectories) return null;
  return `With ${clusters} trajectories, a kind that makes up ${percent(unseenShare(clusters))} of all may be missing here.`;
}

const manyTrajectories = 60;

/** A kind of cluster that makes up this share of all is missing among so many with a probability of 5 %. */
export function unseenShare(clusters: number): number {
  return 1 - 0.05 ** (1 / clusters);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function add(to: Float64Array, group: number, amount: number): void {
  to[group] = (to[group] ?? 0) + amount;
}
