import { expect, test } from "bun:test";
import { signFlipTest } from "./sign-flip-test.ts";

test("the p-value of few clusters is exact", async () => {
  // Of 2^6 sign vectors, only those with equal signs reach the sum.
  expect(await signFlipTest([1, 1, 1, 1, 1, 1], 1)).toBe(2 / 64);
  expect(await signFlipTest([3], 1)).toBe(1);
  // R. A. Fisher, "The Design of Experiments", section 21: Darwin's 15 pairs of plants, 1,726 of 32,768.
  const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
  expect(await signFlipTest(darwin, 1)).toBe(1726 / 32768);
});

test("sums that differ by rounding alone are ties", async () => {
  const sums = [0.1, 0.2, 0.3, 0.1 + 0.2];
  const whole = [1, 2, 3, 3];
  expect(await signFlipTest(sums, 1)).toBe(await signFlipTest(whole, 1));
});

test("a seed gives the same p-value again, another seed about the same", async () => {
  const sums = Array.from({ length: 40 }, (_, index) => Math.sin(index) + 0.15);
  const [one = 0, again = 1, other = 1] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await signFlipTest(sums, seed)) ?? Number.NaN),
  );
  expect(again).toBe(one);
  expect(other).not.toBe(one);
  expect(Math.abs(other - one)).toBeLessThan(0.03);
});

test("a sampled p-value is never 0, and 1 without any difference", async () => {
  expect(await signFlipTest(Array(30).fill(1), 1)).toBe(1 / 10_001);
  expect(await signFlipTest(Array(30).fill(0), 1)).toBe(1);
  expect(await signFlipTest([], 1)).toBeNull();
});
