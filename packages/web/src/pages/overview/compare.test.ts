import { expect, test } from "bun:test";
import { compareAmounts, compareRatios } from "./compare.ts";

const amounts = { before: 200, format: String };
const ratios = { format: (share: number) => `${share * 100} %`, isMoreGood: true };

test("amounts are compared in percent of the previous period", () => {
  expect(compareAmounts({ ...amounts, current: 250 })).toEqual({
    short: "↑ 25 %",
    long: "25 % more than the previous period (200)",
  });
  expect(compareAmounts({ ...amounts, current: 190 })?.short).toBe("↓ 5.0 %");
  expect(compareAmounts({ ...amounts, current: 200 })?.short).toBe("±0 %");
  expect(compareAmounts({ ...amounts, current: 4_000 })?.short).toBe("↑ 20-fold");
});

test("there is no change from 0", () => {
  expect(compareAmounts({ ...amounts, before: 0, current: 250 })).toBeUndefined();
  const none = { part: 0, whole: 0 };
  expect(compareRatios({ ...ratios, before: none, current: { part: 1, whole: 2 } })).toBeUndefined();
  expect(compareRatios({ ...ratios, before: { part: 1, whole: 2 }, current: none })).toBeUndefined();
});

test("an amount is rated only on request and only for a large change", () => {
  expect(compareAmounts({ ...amounts, current: 250, isMoreGood: false })?.isGood).toBe(false);
  expect(compareAmounts({ ...amounts, current: 150, isMoreGood: false })?.isGood).toBe(true);
  expect(compareAmounts({ ...amounts, current: 204, isMoreGood: false })?.isGood).toBeUndefined();
});

test("shares are compared in points, and rated only if the change is significant", () => {
  const many = compareRatios({
    ...ratios,
    current: { part: 600, whole: 1000 },
    before: { part: 500, whole: 1000 },
  });
  expect(many).toEqual({
    short: "↑ 10.0 pt",
    long: "10.0 points higher than the previous period (50 %)",
    isGood: true,
  });
  const few = compareRatios({ ...ratios, current: { part: 6, whole: 10 }, before: { part: 5, whole: 10 } });
  expect(few?.short).toBe("↑ 10.0 pt");
  expect(few?.isGood).toBeUndefined();
});

test("two shares of 0 are the same", () => {
  const nothing = { part: 0, whole: 10 };
  expect(compareRatios({ ...ratios, current: nothing, before: nothing })?.short).toBe("±0 pt");
});
