import { expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import { pairedDifference } from "./paired-difference.ts";

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
  expect(pairedDifference(clusters)).toEqual({
    difference: 0,
    pValue: 1,
    interval: { level: 0.95, lower: 0, upper: 0 },
  });
});

test("clusters that all differ by the same leave no doubt", () => {
  const clusters = Array.from({ length: 200 }, () => ({ count: 3, sum: -0.3 }));
  const { difference, pValue, interval } = pairedDifference(clusters);
  expect(difference).toBeCloseTo(-0.1, 12);
  expect(pValue).toBe(0);
  expect(interval?.lower).toBeCloseTo(-0.1, 12);
  expect(interval?.upper).toBeCloseTo(-0.1, 12);
});

test("one cluster has a difference and no test, and none has nothing", () => {
  expect(pairedDifference([{ count: 4, sum: 1 }])).toEqual({
    difference: 0.25,
    pValue: null,
    interval: null,
  });
  expect(pairedDifference([])).toEqual({ difference: null, pValue: null, interval: null });
});
