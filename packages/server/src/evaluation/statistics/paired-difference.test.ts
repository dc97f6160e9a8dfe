import { expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import { pairedDifference } from "./paired-difference.ts";
import { signFlipTest } from "./sign-flip-test.ts";

test("the interval excludes zero exactly where the p-value is under 0.05", () => {
  const random = mersenne(20261122);
  const uniform = () => (random.next() >>> 0) / 2 ** 32;
  let rejected = 0;
  let bounded = 0;
  for (let set = 0; set < 2000; set++) {
    const shift = uniform() - 0.5;
    const clusters = Array.from({ length: 2 + Math.floor(uniform() * 8) }, () => {
      const count = 1 + Math.floor(uniform() * 10);
      return { count, sum: count * (shift + uniform() - 0.5) };
    });
    const { pValue, interval } = pairedDifference(clusters);
    if (pValue === null || interval === null) continue;
    bounded += 1;
    const isRejected = interval.lower > 0 || interval.upper < 0;
    expect({ clusters, isRejected }).toEqual({ clusters, isRejected: pValue < 0.05 });
    if (isRejected) rejected += 1;
  }
  expect(rejected).toBeGreaterThan(300);
  expect(bounded - rejected).toBeGreaterThan(300);
});

test("runs that do not differ have p-value 1, in spite of rounding", () => {
  const clusters = [
    { count: 3, sum: 0.1 + 0.2 - 0.3 },
    { count: 3, sum: 0.7 - 0.6 - 0.1 },
    { count: 2, sum: 0 },
  ];
  expect(pairedDifference(clusters)).toEqual({ difference: 0, pValue: 1, interval: null });
  expect(pairedDifference([...clusters, ...clusters])).toEqual({
    difference: 0,
    pValue: 1,
    interval: { level: 0.95, lower: 0, upper: 0 },
  });
});

test("clusters that all differ by the same have the p-value of their signs, and few of them no interval", async () => {
  const alike = (count: number) => Array.from({ length: count }, () => ({ count: 3, sum: -0.3 }));
  for (const count of [2, 3, 5, 6, 12]) {
    const { pValue, interval } = pairedDifference(alike(count));
    expect(pValue).toBe(await signFlipTest(Array(count).fill(-0.3), 1));
    expect(interval === null).toBe((pValue ?? 0) > 0.05);
  }
  const { difference, pValue, interval } = pairedDifference(alike(200));
  expect(difference).toBeCloseTo(-0.1, 12);
  expect(pValue).toBe(2 ** -199);
  expect(interval?.lower).toBeCloseTo(-0.1, 12);
  expect(interval?.upper).toBeCloseTo(-0.1, 12);
  // One sample of each trajectory differs, whatever their lengths.
  const unequal = [8, 9, 10].map((count) => ({ count, sum: 1 }));
  expect(pairedDifference(unequal)).toMatchObject({ pValue: 0.25, interval: null });
  // Every sample differs.
  const whole = [8, 9, 10].map((count) => ({ count, sum: -count }));
  expect(pairedDifference(whole)).toEqual({ difference: -1, pValue: 0.25, interval: null });
});

test("one cluster has a difference and no test, and none has nothing", () => {
  expect(pairedDifference([{ count: 4, sum: 1 }])).toEqual({
    difference: 0.25,
    pValue: null,
    interval: null,
  });
  expect(pairedDifference([])).toEqual({ difference: null, pValue: null, interval: null });
});
