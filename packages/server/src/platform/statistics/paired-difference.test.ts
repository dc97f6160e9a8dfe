import { expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import {
  fewestClusters,
  overallSigns,
  pairedDifference,
  strataSigns,
  survivesOneFailure,
} from "./differences.ts";
import type { ClusterSum } from "./intervals.ts";

const clustersOf = (sums: readonly number[], sizes: readonly number[]): ClusterSum[] =>
  sums.map((sum, index) => ({ count: sizes[index] ?? 1, sum }));
const compare = async (clusters: readonly ClusterSum[], seed = 1) =>
  await pairedDifference(clusters, overallSigns, seed);
const near = (value: number): number => expect.closeTo(value, 9);

test("p-value and interval are those of the flipped signs, counted by hand", async () => {
  expect(await compare(clustersOf([4, -3, 2, 5, 1, 0, -1], [6, 5, 4, 9, 3, 2, 2]))).toEqual({
    difference: near(8 / 31),
    pValue: 0.375,
    interval: { level: 0.95, lower: near(-0.5), upper: near(0.6) },
  });
  expect(await compare(clustersOf([20, 1, 1, 1, 2, 0, 1, 3], [60, 3, 2, 4, 5, 1, 2, 6]))).toEqual({
    difference: near(29 / 83),
    pValue: 0.015625,
    interval: { level: 0.95, lower: near(2 / 7), upper: near(0.5) },
  });
});

test("few trajectories, and those that all differ alike, have a p-value and no interval", async () => {
  expect(await compare(clustersOf([20, 19], [20, 20]))).toMatchObject({ pValue: 0.5, interval: null });
  const alike = Array.from({ length: 6 }, () => ({ count: 2, sum: 1 }));
  expect(await compare(alike)).toEqual({ difference: 0.5, pValue: 0.03125, interval: null });
  const unlikeSizes = [1, 2, 3, 4, 5, 6, 7].map((count) => ({ count, sum: 0.1 * count }));
  expect((await compare(unlikeSizes)).interval).toBeNull();
  expect(await compare([{ count: 4, sum: 1 }])).toEqual({ difference: 0.25, pValue: 1, interval: null });
  expect(await compare([])).toEqual({ difference: null, pValue: null, interval: null });
});

test("the p-value of 15 pairs of plants is Darwin's data's", async () => {
  // R. A. Fisher, "The Design of Experiments", section 21: 1,726 of 32,768.
  const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
  expect((await compare(clustersOf(darwin, []))).pValue).toBe(1726 / 32768);
});

test("sums that differ by rounding alone are ties, and runs that do not differ have p-value 1", async () => {
  const sums = [0.1, 0.2, 0.3, 0.1 + 0.2];
  expect((await compare(clustersOf(sums, []))).pValue).toBe(
    (await compare(clustersOf([1, 2, 3, 3], []))).pValue,
  );
  const none = clustersOf([0.1 + 0.2 - 0.3, 0.7 - 0.6 - 0.1, 0], [3, 3, 2]);
  expect(await compare([...none, ...none])).toEqual({ difference: 0, pValue: 1, interval: null });
});

test("random signs: a seed gives the same again, another about the same, and p is never 0", async () => {
  const clusters = Array.from({ length: 40 }, (_, index) => ({ count: 2, sum: Math.sin(index) + 0.15 }));
  const [one, again, other] = [
    await compare(clusters, 7),
    await compare(clusters, 7),
    await compare(clusters, 8),
  ];
  expect(again).toEqual(one);
  expect(other.pValue).not.toBe(one.pValue);
  expect(Math.abs((other.pValue ?? 0) - (one.pValue ?? 1))).toBeLessThan(0.03);
  expect((await compare(clustersOf(Array(30).fill(1), Array(30).fill(2)))).pValue).toBe(1 / 10_001);
});

test("the interval excludes zero exactly where the p-value is at most 0.05", async () => {
  const random = mersenne(20261124);
  const uniform = () => (random.next() >>> 0) / 2 ** 32;
  const counted = { rejected: 0, kept: 0 };
  for (let set = 0; set < 600; set++) {
    const shift = uniform() - 0.5;
    const clusters = Array.from({ length: fewestClusters + Math.floor(uniform() * 12) }, () => {
      const count = 1 + Math.floor(uniform() * 10);
      return { count, sum: Math.round(count * (shift + uniform() - 0.5)) };
    });
    const { pValue, interval } = await pairedDifference(clusters, strataSigns, 1);
    if (pValue === null || interval === null) continue;
    const isRejected = interval.lower > 0 || interval.upper < 0;
    expect({ clusters, isRejected }).toEqual({ clusters, isRejected: pValue <= 0.05 });
    counted[isRejected ? "rejected" : "kept"] += 1;
  }
  expect(Math.min(counted.rejected, counted.kept)).toBeGreaterThan(100);
});

test("a gain of many trajectories survives one whole failure, one of few does not", async () => {
  const better = (clusters: number) => Array.from({ length: clusters }, () => ({ count: 10, sum: 4 }));
  const means = { reference: 0.5, candidate: 0.9 };
  expect(await survivesOneFailure(better(6), means, 1)).toBe(false);
  expect(await survivesOneFailure(better(18), means, 1)).toBe(true);
  const worse = better(6).map(({ count, sum }) => ({ count, sum: -sum }));
  expect(await survivesOneFailure(worse, { reference: 0.9, candidate: 0.5 }, 1)).toBe(false);
});
