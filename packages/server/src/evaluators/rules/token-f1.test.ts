import { expect, test } from "bun:test";
import { tokenF1 } from "./token-f1.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return tokenF1.prepare(tokenF1.config.parse(profile))({ output, goldAnswer });
}

test("case, ASCII punctuation and articles do not count, as in SQuAD's script", () => {
  expect(evaluate("The Cat, sat!", "a cat sat").score).toBe(1);
  expect(evaluate("it's", "its").score).toBe(1);
  expect(evaluate("theatre", "atre").score).toBe(0);
});

test("the score is the harmonic mean of precision and recall over bags of tokens", () => {
  // By hand: "in 1976 maybe" against "1976": precision 1/3, recall 1.
  const verdict = evaluate("In 1976, maybe", "1976");
  expect(verdict.score).toBeCloseTo(0.5, 12);
  expect(verdict.extra).toMatchObject({ precision: 1 / 3, recall: 1 });
  // A repeated word is shared as often as both have it: 2·2 / (3 + 2).
  expect(evaluate("x x x", "x x").score).toBeCloseTo(0.8, 12);
  expect(evaluate("one two", "two one").score).toBe(1);
});

test("without tokens on both sides the score is 1, on one side 0", () => {
  expect(evaluate("", "").score).toBe(1);
  expect(evaluate("the", "...").score).toBe(1);
  expect(evaluate("the", "cat").score).toBe(0);
  expect(evaluate("cat", "").score).toBe(0);
});

test("words of other scripts are words, and an article is not removed from one", () => {
  expect(evaluate("Кошка сидит", "кошка лежит").score).toBe(0.5);
  // With ASCII word boundaries the last letter would be taken for an article.
  expect(evaluate("éa", "é").score).toBe(0);
});

test("tokens of a state are compared as they stand, if the profile says so", () => {
  const profile = { normalisation: "none" };
  expect(evaluate("the door: open", "a door: open", profile).score).toBeCloseTo(2 / 3, 12);
  expect(evaluate("Door\n\topen", "door open", profile).score).toBe(0.5);
});

test("the explanation names what is missing and what is superfluous", () => {
  expect(evaluate("red door", "blue door").explain()).toBe(
    'The output lacks "blue". It has "red", which the gold answer lacks.',
  );
  expect(evaluate("door", "The door.").explain()).toBe("The output has the same tokens as the gold answer.");
});

test("the threshold decides", () => {
  expect(evaluate("a b c d", "b x y z").pass).toBe(false);
  expect(evaluate("b c", "b x", { threshold: 0.5 }).pass).toBe(true);
});

test("a megabyte is compared", () => {
  const text = "word other ".repeat(100_000);
  expect(evaluate(text, text).score).toBe(1);
});
