import { expect, test } from "bun:test";
import { bleu, bleuScore, tokenise13a } from "./bleu.ts";

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

const words = (text: string) => text.split(" ");

test("a repeated word counts as often as the reference has it", () => {
  // Papineni et al. (2002), section 2.1: a modified unigram precision of 2/7.
  const candidate = words("the the the the the the the");
  const { precisions } = bleuScore(candidate, words("the cat is on the mat"), "none");
  expect(precisions[0]).toBe(2 / 7);
});

test("the first example of the paper has its n-grams", () => {
  // Section 2.1, candidate 1 against reference 1 alone, counted by hand.
  const candidate =
    "it is a guide to action which ensures that the military always obeys the commands of the party";
  const reference = "it is a guide to action that ensures that the military will forever heed party commands";
  const { precisions, brevityPenalty, score } = bleuScore(words(candidate), words(reference), "none");
  expect(precisions).toEqual([12 / 18, 8 / 17, 6 / 16, 4 / 15]);
  expect(brevityPenalty).toBe(1);
  expect(score).toBeCloseTo(((12 / 18) * (8 / 17) * (6 / 16) * (4 / 15)) ** 0.25, 12);
});

test("unsmoothed scores are those of NLTK", () => {
  const reference = words("the quick brown fox jumped over the lazy dog");
  const score = (text: string) => bleuScore(words(text), reference, "none").score;
  // Published with a well-known tutorial on NLTK's sentence_bleu.
  expect(score("the fast brown fox jumped over the lazy dog")).toBeCloseTo(0.7506238537503395, 12);
  expect(score("the fast brown fox jumped over the sleepy dog")).toBeCloseTo(0.4854917717073234, 12);
  expect(score("the quick brown fox jumped over the lazy")).toBeCloseTo(0.8824969025845955, 12);
  expect(score("the quick")).toBeCloseTo(0.0301973834223185, 12);
});

test("exponentially smoothed scores are those of sacrebleu's sentence_bleu", () => {
  // From the tests of the mbrs library, which compares itself with sacrebleu.
  const score = (said: string, wanted: string) =>
    100 * bleuScore(tokenise13a(said), tokenise13a(wanted), "exp").score;
  expect(score("this is a test", "this is a test")).toBeCloseTo(100, 9);
  expect(score("another test", "this is a test")).toBeCloseTo(18.394, 3);
  expect(score("this is a fest", "this is a test")).toBeCloseTo(59.46, 2);
  expect(
    score(
      "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;",
      "producţia de zahăr brut se exprimă în zahăr alb;",
    ),
  ).toBeCloseTo(8.493, 3);
  expect(score("this is a test", "ref")).toBe(0);
  expect(bleuScore(["a", "b"], ["c"], "exp").precisions).toEqual([0, 0]);
});

test("add-one smoothing adds to both counts from bigrams on", () => {
  // Lin and Och (2004): 3/4, (1+1)/(3+1), (0+1)/(2+1), (0+1)/(1+1).
  const { precisions, score } = bleuScore(words("this is a fest"), words("this is the fest"), "add-one");
  expect(precisions).toEqual([3 / 4, 2 / 4, 1 / 3, 1 / 2]);
  expect(score).toBeCloseTo((3 / 4 / 2 / 3 / 2) ** 0.25, 12);
});

test("texts without tokens score 0", () => {
  expect(bleuScore([], ["a"], "exp")).toEqual({ score: 0, precisions: [], brevityPenalty: 0 });
  expect(bleuScore(["a"], [], "exp").score).toBe(0);
});

// Each answer follows from the rules of mteval-v13a.pl.
test.each([
  ["The dog bit the man.", ["The", "dog", "bit", "the", "man", "."]],
  ["costs $1,234.50, or so", ["costs", "$", "1,234.50", ",", "or", "so"]],
  ["it's well-known", ["it's", "well-known"]],
  ["1990-95", ["1990", "-", "95"]],
  ["a &amp; b &quot;c&quot;", ["a", "&", "b", '"', "c", '"']],
  ["&amp;lt;b&amp;quot;", ["<", "b", "&", "quot", ";"]],
  ["over-\nlapping lines\nhere", ["overlapping", "lines", "here"]],
  ['{"a": [1.5]}', ["{", '"', "a", '"', ":", "[", "1.5", "]", "}"]],
  ["zahărul alb;", ["zahărul", "alb", ";"]],
  ["", []],
])("%p is split as the script does", (text, tokens) => {
  expect(tokenise13a(text)).toEqual(tokens);
});
