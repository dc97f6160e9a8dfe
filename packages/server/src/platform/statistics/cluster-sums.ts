import {
  addCluster,
  type ClusteredMoments,
  effectiveClusters,
  jackknifeErrorOf,
  leftOutSquare,
  noMoments,
} from "./clustered-interval.ts";

/** The values of a group: what its mean, its standard error and its intervals are made of. */
export interface GroupSums extends ClusteredMoments {
  /** The jackknife's. Null for fewer than two clusters. */
  error: number | null;
  /** The values of the largest cluster. */
  largest: number;
}

/** Values by group and cluster; those of a group's cluster follow one another. */
export interface ClusterSums {
  add(group: number, cluster: number, value: number): void;
  /** By the number of each group that has values, once all are added. */
  end(): ReadonlyMap<number, GroupSums>;
}

export function createClusterSums(groups: number): ClusterSums {
  const current = new Int32Array(groups).fill(-1);
  const openCount = new Float64Array(groups);
  const openSum = new Float64Array(groups);
  // The jackknife needs each cluster once the sums of all are known. There may be a million.
  const ended: { groups: number[]; counts: number[]; sums: number[] } = { groups: [], counts: [], sums: [] };

  function endCluster(group: number): void {
    if (openCount[group] === 0) return;
    ended.groups.push(group);
    ended.counts.push(openCount[group] ?? 0);
    ended.sums.push(openSum[group] ?? 0);
    openCount[group] = 0;
    openSum[group] = 0;
  }

  return {
    add(group, cluster, value) {
      if (current[group] !== cluster) endCluster(group);
      current[group] = cluster;
      openCount[group] = (openCount[group] ?? 0) + 1;
      openSum[group] = (openSum[group] ?? 0) + value;
    },
    end() {
      for (let group = 0; group < groups; group++) endCluster(group);
      const found = new Map<number, GroupSums & { squares: number }>();
      for (let index = 0; index < ended.groups.length; index++) {
        const group = ended.groups[index] ?? 0;
        const sums = found.get(group) ?? { ...noMoments, error: null, largest: 0, squares: 0 };
        found.set(group, sums);
        const count = ended.counts[index] ?? 0;
        addCluster(sums, count, ended.sums[index] ?? 0);
        sums.largest = Math.max(sums.largest, count);
      }
      for (let index = 0; index < ended.groups.length; index++) {
        const sums = found.get(ended.groups[index] ?? 0);
        if (sums) sums.squares += leftOutSquare(sums, ended.counts[index] ?? 0, ended.sums[index] ?? 0);
      }
      for (const sums of found.values()) sums.error = jackknifeErrorOf(sums.clusters, sums.squares);
      return found;
    },
  };
}

/** A warning where clusters are too few or too unequal in size. Null from 60 clusters on. */
export function noteOn(sums: GroupSums): string | null {
  const { clusters, count, largest } = sums;
  if (clusters === 0) return null;
  if (clusters === 1) return "One trajectory only: there is no interval.";
  if (effectiveClusters(sums) < 2) {
    return `One trajectory has ${percent(largest / count)} of the samples: the figure is mostly about it.`;
  }
  if (clusters >= manyTrajectories) return null;
  return `With ${clusters} trajectories, a kind that makes up ${percent(unseenShare(clusters))} of all may be missing here.`;
}

const manyTrajectories = 60;

/** The share of all clusters that a kind can have and still be missing from a sample of this size with a probability of 5 %. */
export function unseenShare(clusters: number): number {
  return 1 - 0.05 ** (1 / clusters);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
