import { expect, test } from "bun:test";
import { rougeL } from "./rouge-l.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return rougeL.prepare(rougeL.config.parse(profile))({ output, goldAnswer });
}

test("the examples of the paper have their scores", () => {
  // Lin (2004), section 3.1, S1 to S3.
  const gold = "police killed the gunman";
  expect(evaluate("police kill the gunman", gold).score).toBe(0.75);
  expect(evaluate("the gunman kill police", gold).score).toBe(0.5);
  // S4: the measure sees one of the common subsequences only.
  expect(evaluate("the gunman police killed", gold).score).toBe(0.5);
});

test("the examples of the reference implementation have their scores", () => {
  // The unit tests of Google's rouge_score: precision 1, recall 2/3.
  for (const output of ["testing one", "testing two"]) {
    const verdict = evaluate(output, "testing one two");
    expect(verdict.score).toBeCloseTo(4 / 5, 12);
    expect(verdict.extra).toMatchObject({ precision: 1, recall: 2 / 3 });
  }
  expect(evaluate("", "testing one two").score).toBe(0);
  expect(evaluate("/", "w1 w2 w3").score).toBe(0);
});

test("case and punctuation do not count, words of every script do", () => {
  expect(evaluate("Testing, ONE-two!", "testing one two").score).toBe(1);
  expect(evaluate("кошка спит дома", "Кошка ест дома").score).toBeCloseTo(2 / 3, 12);
  expect(evaluate("नमस्ते दुनिया", "नमस्ते").extra).toMatchObject({ output_words: 2, gold_words: 1 });
});

test("texts without words are equal or not", () => {
  expect(evaluate("", "").score).toBe(1);
  expect(evaluate("[]\n", "[]").score).toBe(1);
  expect(evaluate("[]", "{}").score).toBe(0);
});

test("the explanation says what is missing, or that the order differs", () => {
  expect(evaluate("the red door", "the blue door").explain()).toBe(
    'Words in common, in the same order: 2, of 3 in the output and 3 in the gold answer. The output lacks "blue". It has "red", which the gold answer lacks.',
  );
  expect(evaluate("door red", "red door").explain()).toEndWith("Only the order differs.");
});

test("the threshold decides, and long texts are expensive", () => {
  expect(evaluate("police kill the gunman", "police killed the gunman", { threshold: 0.8 }).pass).toBe(false);
  const long = "word ".repeat(20_000);
  expect(rougeL.isExpensive?.({ output: long, goldAnswer: long }, { threshold: 0.5 })).toBe(true);
  expect(rougeL.isExpensive?.({ output: "word", goldAnswer: "word" }, { threshold: 0.5 })).toBe(false);
});
