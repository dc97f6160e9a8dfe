import { expect, test } from "bun:test";
import { UnusableSampleError } from "../outcome.ts";
import { numeric } from "./numeric.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return numeric.prepare(numeric.config.parse(profile))({ output, goldAnswer });
}

test("numbers are compared as numbers, however they are written", () => {
  expect(evaluate("about 1,234.50 kg at -3e-4", "1234.5 and −0.0003")).toMatchObject({
    pass: true,
    score: 1,
  });
});

test("the score is the share of numbers that are right, at their places", () => {
  const verdict = evaluate("😀 1, 5 and 3", "1 2 3");
  expect(verdict).toMatchObject({ pass: false, positions: [[5, 6]], extra: { wrong: 1 } });
  expect(verdict.score).toBeCloseTo(2 / 3, 12);
  expect(verdict.explain()).toBe("Number 2 is 5, but the gold answer has 2.");
});

test("a number too many or too few is wrong", () => {
  const tooMany = evaluate("1 2", "1");
  expect(tooMany).toMatchObject({ pass: false, score: 0.5, positions: [[2, 3]] });
  expect(tooMany.explain()).toBe("Number 2, 2, is not in the gold answer.");
  const tooFew = evaluate("1", "1 2");
  expect(tooFew).toMatchObject({ pass: false, score: 0.5 });
  expect(tooFew.explain()).toBe("Number 2 is missing; the gold answer has 2.");
  expect(evaluate("", "1").score).toBe(0);
});

test("the wider tolerance counts, and its edge is inside", () => {
  expect(evaluate("10.5", "10", { absolute_tolerance: 0.5 }).pass).toBe(true);
  expect(evaluate("10.51", "10", { absolute_tolerance: 0.5 }).pass).toBe(false);
  expect(evaluate("19.99", "20.00", { absolute_tolerance: 0.01 }).pass).toBe(true);
  expect(evaluate("0.8", "0.7", { absolute_tolerance: 0.1 }).pass).toBe(true);
  expect(evaluate("0.80000001", "0.7", { absolute_tolerance: 0.1 }).pass).toBe(false);
  expect(evaluate("1e999", "1", { absolute_tolerance: 1 }).pass).toBe(false);
  expect(evaluate("101", "100", { relative_tolerance: 0.01 }).pass).toBe(true);
  expect(evaluate("-101", "-100", { relative_tolerance: 0.01 }).pass).toBe(true);
  expect(evaluate("43", "100", { relative_tolerance: 0.57 }).pass).toBe(true);
  expect(
    evaluate("1732700000000001", "1732700000000000", { absolute_tolerance: 0.01, relative_tolerance: 0 })
      .pass,
  ).toBe(false);
  expect(evaluate("0.1", "0", { relative_tolerance: 1 }).pass).toBe(false);
  // 0.1 + 0.2, which a tolerance of 0 does not forgive.
  expect(evaluate("0.30000000000000004", "0.3").pass).toBe(true);
  expect(evaluate("0.30000000000000004", "0.3", { relative_tolerance: 0 }).pass).toBe(false);
  expect(evaluate("1", "1e999").pass).toBe(false);
  expect(evaluate("1e400", "1e500").explain()).toBe("Number 1 is 1e400, but the gold answer has 1e500.");
  expect(evaluate("1e400", "1e400").pass).toBe(true);
});

test("only the last number counts, if the profile says so", () => {
  expect(evaluate("2 + 3 = 5", "5", { compare: "last" })).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("5 then 6", "5", { compare: "last" })).toMatchObject({ score: 0, positions: [[7, 8]] });
});

test("a gold answer without a number cannot be used", () => {
  expect(() => evaluate("1", "one")).toThrow(UnusableSampleError);
});

test("at most a thousand positions are reported, and all are counted", () => {
  const verdict = evaluate("1 ".repeat(5_000), "2 ".repeat(2_000));
  expect(verdict).toMatchObject({
    score: 0,
    extra: { output_numbers: 5_000, gold_numbers: 2_000, wrong: 5_000 },
  });
  expect(verdict.positions).toHaveLength(1_000);
  expect(verdict.positions?.[999]).toEqual([1_998, 1_999]);
  expect(verdict.explain()).toEndWith(" 4995 more differ.");
});
