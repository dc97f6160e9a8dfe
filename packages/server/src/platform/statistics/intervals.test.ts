import { expect, test } from "bun:test";
import {
  atRank,
  clusteredError,
  jackknifeError,
  medianInterval,
  momentsOfClusters,
  rateInterval,
  scoreInterval,
  toHistogram,
  wilsonBounds,
  wilsonInterval,
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

const ranks = (count: number) => toHistogram(Array.from({ length: count }, (_, at) => [at + 1, 1] as const));

test("the interval of a hundred values is from the 40th to the 61st", () => {
  // M. J. Campbell and M. J. Gardner, "Calculating confidence intervals for some non-parametric analyses", BMJ 296 (1988).
  expect(medianInterval(ranks(100))).toEqual({ lower: 40, median: 50.5, upper: 61 });
});

test("six values are the fewest with an interval, from the least to the greatest", () => {
  expect(medianInterval(ranks(6))).toEqual({ lower: 1, median: 3.5, upper: 6 });
  expect(medianInterval(ranks(5))).toEqual({ lower: null, median: 3, upper: null });
  expect(medianInterval(ranks(0))).toEqual({ lower: null, median: null, upper: null });
});

test("values whose counts sum to zero are left out", () => {
  const histogram = toHistogram([
    [0, 2],
    [1000, 1],
    [0, -2],
  ]);
  expect(histogram).toEqual([[1000, 1]]);
});

test("a rank has the value at that place in order, and a rank beyond the last has none", () => {
  const histogram = toHistogram([
    [20, 2],
    [10, 1],
  ]);
  expect([1, 2, 3, 4].map((rank) => atRank(histogram, rank))).toEqual([10, 20, 20, null]);
});

// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I, method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])("%d of %d is Newcombe's interval", (successes, trials, lower, upper) => {
  const interval = wilsonInterval(successes, trials);
  expect(interval?.level).toBe(0.95);
  expect(interval?.lower).toBeCloseTo(lower, 4);
  expect(interval?.upper).toBeCloseTo(upper, 4);
});

test("none and all reach the exact ends, and no trials have no interval", () => {
  expect(wilsonInterval(20, 20)).toEqual({ level: 0.95, lower: expect.closeTo(0.8389, 4), upper: 1 });
  expect(wilsonInterval(0, 0)).toBeNull();
});

test("however large the critical value is, the ends are not rounded out of 0 to 1", () => {
  for (const critical of [3.1e31, 6e128, Number.POSITIVE_INFINITY]) {
    expect(wilsonBounds(0.28812839603921203, 189.09971243425332, critical)).toEqual({
      level: 0.95,
      lower: expect.closeTo(0, 12),
      upper: 1,
    });
    expect(wilsonBounds(0.28812839603921203, 189.09971243425332, critical).lower).toBeGreaterThanOrEqual(0);
  }
});
