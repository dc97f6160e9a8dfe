import { expect, test } from "bun:test";
import { domainWithZero, linearScale, niceEnd, niceTicks } from "./scale.ts";

test("ticks are round and inside the domain", () => {
  expect(niceTicks([0, 1], 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(niceTicks([-0.11, 0.34], 4)).toEqual([0, 0.2]);
  expect(niceTicks([-0.11, 0.34], 5)).toEqual([-0.1, 0, 0.1, 0.2, 0.3]);
  expect(niceTicks([3, 3], 4)).toEqual([3]);
});

test("ticks of whole numbers are whole", () => {
  expect(niceTicks([0, 2], 8, true)).toEqual([0, 1, 2]);
  expect(niceTicks([0, 999], 6, true)).toEqual([0, 200, 400, 600, 800]);
});

test("an axis ends with a tick", () => {
  expect([0, 0.07, 0.3, 1, 7, 9.1, 420, 16_700].map((highest) => niceEnd(highest, 5))).toEqual([
    1, 0.08, 0.3, 1, 8, 10, 500, 20_000,
  ]);
  expect([1, 2, 7].map((highest) => niceEnd(highest, 5, true))).toEqual([1, 2, 8]);
  for (const highest of [1, 3, 7, 12, 99, 420, 1234]) {
    const end = niceEnd(highest, 5);
    const ticks = niceTicks([0, end], 5);
    expect(ticks.at(-1)).toBe(end);
    expect(ticks.length).toBeGreaterThanOrEqual(4);
    expect(ticks.length).toBeLessThanOrEqual(6);
  }
});

test("a domain has 0, and room where it does not end there", () => {
  expect(domainWithZero([])).toEqual([-1, 1]);
  expect(domainWithZero([1])).toEqual([0, 1.04]);
  expect(domainWithZero([-1, 1])).toEqual([-1.08, 1.08]);
});

test("a domain of one value is in the middle", () => {
  expect(linearScale([4, 4], [0, 100])(4)).toBe(50);
  expect(linearScale([0, 2], [100, 0])(2)).toBe(0);
});
