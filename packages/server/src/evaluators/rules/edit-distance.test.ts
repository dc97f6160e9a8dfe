import { expect, test } from "bun:test";
import { editDistance } from "./edit-distance.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return editDistance.prepare(editDistance.config.parse(profile))({ output, goldAnswer });
}

test("the score is one less the share of characters to be changed", () => {
  // Levenshtein's usual example: three edits in seven characters.
  const verdict = evaluate("kitten", "sitting");
  expect(verdict.score).toBeCloseTo(4 / 7, 12);
  expect(verdict.pass).toBe(false);
  expect(verdict.extra).toEqual({ edits: 3, longer_length: 7 });
  expect(verdict.positions).toEqual([[0, 6]]);
  expect(verdict.explain()).toStartWith("3 of 7 characters would have to change.");
});

test("equal texts score 1, and so do two empty ones", () => {
  expect(evaluate("Ωμέγα 😀", "Ωμέγα 😀")).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("", "")).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("", "abc")).toMatchObject({ pass: false, score: 0 });
});

test("the part that differs is counted in code points of the original output", () => {
  expect(evaluate("  😀😀abc", "😀😀axc").positions).toEqual([[5, 6]]);
  // The first two share their high surrogate, the others their low one.
  expect(evaluate("a😀b", "a😁b").positions).toEqual([[1, 2]]);
  expect(evaluate("a\u{1F600}b", "a\u{1FA00}b").positions).toEqual([[1, 2]]);
});

test("the explanation counts from the beginning of the output too", () => {
  expect(evaluate("  abc", "axc").explain()).toBe(
    '1 of 3 characters would have to change. The output differs from character 3 on: it has "bc", but the gold answer has "xc".',
  );
});

test("positions skip reasoning, though it has the same words", () => {
  const profile = { strip_tags: true };
  expect(evaluate("<think>no</think>no", "yo", profile).positions).toEqual([[17, 18]]);
});

test("the profile decides what does not count and what passes", () => {
  expect(evaluate("ABC", "abc", { ignore_case: true }).score).toBe(1);
  expect(evaluate("abc ", "abc", { trim: false }).score).toBe(0.75);
  expect(evaluate("<think>so</think>abc", "abc", { strip_tags: true }).score).toBe(1);
  expect(evaluate("abcd", "abcx", { threshold: 0.75 }).pass).toBe(true);
  expect(editDistance.config.safeParse({ threshold: 1.1 }).success).toBe(false);
});

test("a pair of texts that takes more than about a millisecond is expensive", () => {
  const isExpensive = (length: number) =>
    (editDistance.estimateMs?.(
      { output: "x".repeat(length), goldAnswer: "y".repeat(length) },
      editDistance.config.parse({}),
    ) ?? 0) > 1;
  expect(isExpensive(900)).toBe(false);
  expect(isExpensive(10_000)).toBe(true);
});

test("texts too long to compare are no fail", () => {
  const long = "ab".repeat(500_000);
  expect(() => evaluate(`x${long}x`, `y${long}y`)).toThrow("too long to be compared");
});
