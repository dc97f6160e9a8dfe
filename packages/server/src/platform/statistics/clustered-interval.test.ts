import { expect, test } from "bun:test";
import {
  clusteredError,
  jackknifeError,
  momentsOfClusters,
  rateInterval,
  scoreInterval,
} from "./intervals.ts";

/** `[count, sum]` of each cluster. */
type Clusters = readonly (readonly [count: number, sum: number])[];

function describe(clusters: Clusters, intervalOf: typeof rateInterval) {
  const sums = clusters.map(([count, sum]) => ({ count, sum }));
  const moments = momentsOfClusters(sums);
  const error = jackknifeError(sums);
  const { lower, upper } = intervalOf(moments, error) ?? { lower: Number.NaN, upper: Number.NaN };
  return { mean: moments.sum / moments.count, error, lower, upper };
}

const near = (value: number): number => expect.closeTo(value, 8);

const alike = (clusters: number, count: number, sum: number): Clusters =>
  Array.from({ length: clusters }, () => [count, sum] as const);

/** Computed with numpy and scipy from the formulas in `docs/statistics.md`. */
const rates: Record<string, [Clusters, mean: number, error: number, lower: number, upper: number]> = {
  "trajectories that are all alike": [alike(12, 3, 2), 0.666666667, 0, 0.483352923, 0.810445466],
  "verdicts that all pass": [
    [
      [3, 3],
      [9, 9],
      [1, 1],
      [4, 4],
      [4, 4],
      [2, 2],
    ],
    1,
    0,
    0.303682903,
    1,
  ],
  "one trajectory that fails whole": [
    [...alike(11, 4, 4), [4, 0]],
    0.916666667,
    0.083333333,
    0.592906097,
    0.988106499,
  ],
  "one trajectory with most samples": [
    [[40, 20], ...alike(7, 3, 2)],
    0.557377049,
    0.103183912,
    0.048646349,
    0.968761176,
  ],
  "unlike trajectories": [
    [
      [4, 3],
      [2, 0],
      [1, 1],
      [3, 2],
    ],
    0.6,
    0.162692121,
    0.140405336,
    0.932318251,
  ],
};

test.each(Object.entries(rates))("the rate of %s", (_, [clusters, mean, error, lower, upper]) => {
  expect(describe(clusters, rateInterval)).toEqual({
    mean: near(mean),
    error: near(error),
    lower: near(lower),
    upper: near(upper),
  });
});

test("a mean of scores has Wilson's interval with its standard error, within 0 and 1", () => {
  const clusters: Clusters = [
    [3, 2.5],
    [2, 1.2],
    [4, 3.9],
    [1, 0.8],
  ];
  expect(describe(clusters, scoreInterval)).toEqual({
    mean: near(0.84),
    error: near(0.093786658),
    lower: near(0.374049505),
    upper: near(0.978779512),
  });
});

test("clusters of equal thirds do not differ, in spite of rounding", () => {
  const thirds = Array.from({ length: 7919 }, (_, index) => ({ count: index + 1, sum: (index + 1) / 3 }));
  expect(jackknifeError(thirds)).toBe(0);
  expect(clusteredError(momentsOfClusters(thirds))).toBe(0);
});

test("of clusters of one size, the error by moments is the jackknife's", () => {
  const clusters = Array.from({ length: 9 }, (_, index) => ({ count: 4, sum: (index % 4) / 2 }));
  expect(clusteredError(momentsOfClusters(clusters))).toBeCloseTo(jackknifeError(clusters) ?? -1, 12);
});

test("where one cluster has nearly everything, its interval is everything", () => {
  expect(
    describe(
      [
        [100_000, 50_000],
        [1, 1],
      ],
      rateInterval,
    ),
  ).toMatchObject({ lower: 0, upper: 1 });
});

test("one cluster, and none, have no interval", () => {
  for (const clusters of [[{ count: 30, sum: 15 }], []]) {
    const error = jackknifeError(clusters);
    expect(error).toBeNull();
    expect(rateInterval(momentsOfClusters(clusters), error)).toBeNull();
    expect(scoreInterval(momentsOfClusters(clusters), error)).toBeNull();
  }
});
