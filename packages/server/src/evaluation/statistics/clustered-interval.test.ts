import { expect, test } from "bun:test";
import {
  type ClusteredMoments,
  clusteredError,
  clusteredMeanInterval,
  clusteredRateInterval,
  momentsOfClusters,
} from "./clustered-interval.ts";
import { tInterval } from "./t-interval.ts";

type Value = (index: number) => number;

function momentsOf(count: number, value: Value, cluster: Value): ClusteredMoments {
  const sums = new Map<number, { count: number; sum: number }>();
  for (let index = 0; index < count; index++) {
    const one = sums.get(cluster(index)) ?? { count: 0, sum: 0 };
    sums.set(cluster(index), { count: one.count + 1, sum: one.sum + value(index) });
  }
  return momentsOfClusters(sums.values());
}

const flag = (is: boolean) => Number(is);
const sqrt: Value = (index) => Math.floor(Math.sqrt(index));
const by =
  (size: number): Value =>
  (index) =>
    Math.floor(index / size);

/*
 * The standard errors are those of statsmodels 0.15.0 for the same values and clusters:
 *   sm.OLS(y, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True).bse
 * The bounds of a rate are the roots of |p - r| = t.ppf(0.975, G - 1) · sqrt(r (1 - r) / n_eff), which defines Wilson's interval, found
 * by brentq of scipy 1.17.1 with n_eff = min(n, p (1 - p) / se²), or G where se is 0. Those of a mean are the model's conf_int(),
 * within 0 and 1.
 */
interface Reference {
  count: number;
  value: Value;
  cluster: Value;
  error: number;
  lower: number;
  upper: number;
}

const rates: Record<string, Reference> = {
  "trajectories whose verdicts are mostly the same": {
    count: 2000,
    value: (index) => flag(Math.floor(index / 20) % 4 !== 0 || index % 10 === 0),
    cluster: by(20),
    error: 0.03916747259003196,
    lower: 0.6888361433487935,
    upper: 0.8427510621376675,
  },
  "clusters of unequal size": {
    count: 300,
    value: (index) => flag((index * 7919) % 10 < 6 + (sqrt(index) % 2) * 3),
    cluster: sqrt,
    error: 0.0372782226286734,
    lower: 0.6736534356062531,
    upper: 0.8292899188432843,
  },
  "clusters that do not differ": {
    count: 120,
    value: (index) => index % 2,
    cluster: by(2),
    error: 0,
    lower: 0.37494167978670273,
    upper: 0.6250583202132973,
  },
  "three clusters": {
    count: 60,
    value: (index) => flag(index % 20 < 4 + 6 * Math.floor(index / 20)),
    cluster: by(20),
    error: 0.1732050807568878,
    lower: 0.08479243059349867,
    upper: 0.9152075694065013,
  },
  "a rate of 1": {
    count: 90,
    value: () => 1,
    cluster: by(6),
    error: 0,
    lower: 0.765301829860496,
    upper: 1,
  },
  "a rate of 0": {
    count: 90,
    value: () => 0,
    cluster: by(6),
    error: 0,
    lower: 0,
    upper: 0.23469817013950398,
  },
};

const means: Record<string, Reference> = {
  scores: {
    count: 500,
    value: (index) => (((Math.floor(index / 10) * 37) % 101) / 100) * 0.8 + (index % 10) / 50,
    cluster: by(10),
    error: 0.03384824910312113,
    lower: 0.4221393967821858,
    upper: 0.5581806032178142,
  },
  "scores close to 1": {
    count: 40,
    value: (index) => (index < 35 ? 1 : 0.2),
    cluster: by(5),
    error: 0.1,
    lower: 0.6635375748407215,
    upper: 1,
  },
};

test.each(Object.entries(rates))("the interval of %s is that of the reference", (_, reference) => {
  const moments = momentsOf(reference.count, reference.value, reference.cluster);
  expect(clusteredError(moments)).toBeCloseTo(reference.error, 12);
  const interval = clusteredRateInterval(moments);
  expect(interval?.lower).toBeCloseTo(reference.lower, 10);
  expect(interval?.upper).toBeCloseTo(reference.upper, 10);
});

test.each(Object.entries(means))(
  "the interval of the mean of %s is that of the reference",
  (_, reference) => {
    const moments = momentsOf(reference.count, reference.value, reference.cluster);
    expect(clusteredError(moments)).toBeCloseTo(reference.error, 12);
    const interval = clusteredMeanInterval(moments);
    expect(interval?.lower).toBeCloseTo(reference.lower, 10);
    expect(interval?.upper).toBeCloseTo(reference.upper, 10);
  },
);

test("clusters of equal thirds do not differ, in spite of rounding", () => {
  const moments = momentsOf(3 * 7919, (index) => flag(index % 3 === 0), by(3));
  expect(clusteredError(moments)).toBe(0);
});

test("with one value in each cluster, the interval of a mean is Student's", () => {
  const value: Value = (index) => ((index * 37) % 101) / 101;
  const values = Array.from({ length: 50 }, (_, index) => value(index));
  const student = tInterval({
    count: 50,
    sum: values.reduce((sum, one) => sum + one, 0),
    sumOfSquares: values.reduce((sum, one) => sum + one * one, 0),
  });
  const interval = clusteredMeanInterval(momentsOf(50, value, (index) => index));
  expect(interval?.lower).toBeCloseTo(student?.lower ?? -1, 12);
  expect(interval?.upper).toBeCloseTo(student?.upper ?? -1, 12);
});

test("one cluster, and none, have no interval", () => {
  for (const count of [30, 0]) {
    const moments = momentsOf(
      count,
      (index) => index % 2,
      () => 0,
    );
    expect([clusteredError(moments), clusteredRateInterval(moments), clusteredMeanInterval(moments)]).toEqual(
      [null, null, null],
    );
  }
});
