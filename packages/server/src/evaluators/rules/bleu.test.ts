import { expect, test } from "bun:test";
import { bleu } from "./bleu.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return bleu.prepare(bleu.config.parse(profile))({ output, goldAnswer });
}

test("equal texts score 1, however short", () => {
  expect(evaluate("Open.", "Open.")).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("The door opens at once.", "The door opens at once.").score).toBeCloseTo(1, 12);
  expect(evaluate("猫 が 寝る", "猫 が 寝る", { smoothing: "none" }).score).toBeCloseTo(1, 12);
  expect(evaluate("", "").score).toBe(1);
});

test("an output that is empty or shares nothing with the gold answer scores 0", () => {
  expect(evaluate("", "The door.")).toMatchObject({ pass: false, score: 0 });
  for (const smoothing of ["none", "add-one", "exp"]) {
    expect(evaluate("red cat", "The door opens", { smoothing }).score).toBe(0);
  }
});

test("the profile says how to smooth and to split", () => {
  // 3/4 · 2/3 · 1/2 · 0 without smoothing; sacrebleu uses 1/2 for the last and reports 59.46.
  expect(evaluate("this is a fest", "this is a test", { smoothing: "none" }).score).toBe(0);
  expect(evaluate("this is a fest", "this is a test").score).toBeCloseTo(0.5946, 4);
  expect(evaluate("open.", "open .").score).toBeCloseTo(1, 12);
  expect(evaluate("open.", "open .", { tokenisation: "whitespace" }).score).toBe(0);
});

test("the explanation names the lowest precision and what brevity costs", () => {
  expect(evaluate("this is a fest", "this is a test with more").explain()).toBe(
    "Precisions after smoothing: 1-grams 75 %, 2-grams 66.7 %, 3-grams 50 %, 4-grams 50 %. " +
      "The lowest is that of runs of 3 words. " +
      "With 4 tokens for 6 the output is too short, which costs a factor of 0.607.",
  );
  expect(evaluate("door", "the door").explain()).toBe(
    "Precisions after smoothing: 1-grams 100 %. With 1 token for 2 the output is too short, which costs a factor of 0.368.",
  );
  expect(evaluate("the door", "the door").explain()).toBe(
    "Every run of one to four words is in the gold answer.",
  );
  expect(evaluate("", "door").explain()).toBe("The output is empty.");
  expect(evaluate("a cat", "the door").explain()).toBe("No word is in the gold answer.");
});

test("a megabyte is compared", () => {
  const text = "word other ".repeat(100_000);
  expect(evaluate(text, text).score).toBeCloseTo(1, 12);
}, 300_000);
