import { expect, test } from "bun:test";
import { wilsonBounds, wilsonInterval } from "./intervals.ts";

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
