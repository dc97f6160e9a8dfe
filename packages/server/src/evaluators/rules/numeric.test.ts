import { expect, test } from "bun:test";
import { UnusableSampleError } from "../outcome.ts";
import { numeric, readNumbers } from "./numeric.ts";

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

const valuesOf = (text: string) => [...readNumbers(text)].map(({ value }) => value);

test.each<[string, number[]]>([
  ["no number", []],
  ["", []],
  ["42", [42]],
  ["1,234.5 and 1,234,567", [1234.5, 1_234_567]],
  ["0.5,0.7", [0.5, 0.7]],
  ["1,23", [1, 23]],
  ["0,123", [0, 123]],
  ["1,234,56", [1, 234, 56]],
  ["[100, 200, 300]", [100, 200, 300]],
  ["-3e-4 +2E3 −7 3e−2", [-0.0003, 2000, -7, 0.03]],
  ["12% of 5kg", [12, 5]],
  ["3.14.15 and 192.168.0.1", [3, 14, 15, 192, 168, 0, 1]],
  ["2024-01-05T10:30:00", [2024, 1, 5, 10, 30, 0]],
  ["5-3, item-3, (2)-1, x = -3, (-4)", [5, 3, 3, 2, 1, -3, -4]],
  [".5 and -.25", [0.5, -0.25]],
  ["The answer is...42", [42]],
  ["0..10, [1..9], [0..-5]", [0, 10, 1, 9, 0, -5]],
  ["-$50.00, −€1,234.5, $-3, -$.5, $5-$10", [-50, -1234.5, -3, -0.5, 5, 10]],
  ["It is 7. Or 8, or 9.", [7, 8, 9]],
  ["song17 H2O 1e5x", [17, 2, 1, 5]],
  ["٣ ５ x²", []],
])("%p holds %p", (text, values) => {
  expect(valuesOf(text)).toEqual(values);
});

test("a number knows where it stands", () => {
  const text = "😀 -1,234.5e2; 3.1.4";
  const found = [...readNumbers(text)].map(({ start, end }) => text.slice(start, end));
  expect(found).toEqual(["-1,234.5e2", "3", "1", "4"]);
});

test("a megabyte of digits made to be slow is read at once", () => {
  expect(valuesOf(`${"100,".repeat(250_000)}1`)).toHaveLength(250_001);
  expect(valuesOf("1.".repeat(500_000))).toHaveLength(500_000);
  expect(valuesOf(`1e${"1".repeat(1_000_000)}x`)).toHaveLength(2);
});
