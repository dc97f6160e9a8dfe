import { expect, test } from "bun:test";
import { answerOf } from "./answer-of.ts";

const figures = { pass_rate: 0.8, no_change: { mean: 0.5, pass_rate: 0.5, count: 10 } };
const compared = (difference: number, p_adjusted: number | null) => ({
  difference,
  interval: { level: 0.95, lower: difference - 0.1, upper: difference + 0.1 },
  p_adjusted,
  min_detectable: null,
});

test("better or worse needs a small adjusted p", () => {
  expect(answerOf(figures, compared(0.3, 0.001)).outcome).toBe("better");
  expect(answerOf(figures, compared(-0.3, 0.001)).outcome).toBe("worse");
  expect(answerOf(figures, compared(0.3, 0.2)).outcome).toBe("open");
  expect(answerOf(figures, compared(0.3, null)).outcome).toBe("open");
});

test("the difference is said with its interval", () => {
  expect(answerOf(figures, compared(0.3, 0.0001)).detail).toBe(
    "The mean score differs by +30.0 points (95 % interval +20.0 to +40.0, p < 0.001).",
  );
});

test("without a run of the baseline nothing is claimed", () => {
  expect(answerOf(figures, undefined)).toMatchObject({
    outcome: "unknown",
    detail: expect.stringContaining("+30.0"),
  });
  expect(answerOf({ pass_rate: 0.8, no_change: null }, undefined).title).toBe("No baseline to compare with");
});
