import { expect, test } from "bun:test";
import type { Draw } from "../../../../../fuzz/generate/draw.ts";
import { seeded } from "../../../test/support/seeded.ts";
import { NotApplicableError, UnusableSampleError } from "../outcome.ts";
import { lcsLength, rougeL } from "./rouge-l.ts";

function evaluate(output: string, goldAnswer: string, profile = {}) {
  return rougeL.prepare(rougeL.config.parse(profile))({ output, goldAnswer });
}

test("the examples of the paper have their scores", () => {
  // Lin (2004), section 3.1, S1 to S3.
  const gold = "police killed the gunman";
  expect(evaluate("police kill the gunman", gold).score).toBe(0.75);
  expect(evaluate("the gunman kill police", gold).score).toBe(0.5);
  // S4: the measure sees only one of the common subsequences.
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

test("a gold answer without a word leaves the sample out, whatever the output; an output without one has 0", () => {
  for (const gold of ["", ".", "[]\n"]) {
    for (const output of [gold, "", "a"]) expect(() => evaluate(output, gold)).toThrow(NotApplicableError);
  }
  expect(evaluate("[]", "a").score).toBe(0);
});

test("`pltrdy` scores texts without words as mdlm_world_modeling does", () => {
  const pltrdy = (text: string) => evaluate(text, text, { variant: "pltrdy" });
  expect(pltrdy(".")).toMatchObject({ pass: false, score: 0 });
  for (const text of ["", "[]"]) expect(pltrdy(text)).toMatchObject({ pass: true, score: 2 / (2 + 1e-8) });
});

test("the explanation says what is missing, or that the order differs", () => {
  expect(evaluate("the red door", "the blue door").explain()).toBe(
    'Words in common, in the same order: 2, of 3 in the output and 3 in the gold answer. The output lacks "blue". It has "red", which the gold answer lacks.',
  );
  expect(evaluate("door red", "red door").explain()).toEndWith("Only the order differs.");
  expect(evaluate(".", ".", { variant: "pltrdy" }).explain()).toBe(
    "Neither the output nor the gold answer has a word.",
  );
});

test("`pltrdy` counts distinct words by sentence, and so sees less than the default", () => {
  const pltrdy = (output: string, gold: string) => evaluate(output, gold, { variant: "pltrdy" });
  // Neither the order of sentences nor repetition counts.
  expect(pltrdy("Two. One. One.", "One. Two.")).toMatchObject({ pass: true, extra: { common_words: 2 } });
  expect(evaluate("Two. One. One.", "One. Two.").score).toBeLessThan(0.5);
  // Case and commas do count, and a decimal point ends a sentence.
  expect(pltrdy("A door, open", "a door open").score).toBeCloseTo(1 / 3, 6);
  expect(pltrdy("1.5", "5.1").extra).toMatchObject({ precision: 1, recall: 1 });
  expect(pltrdy("the door. the red lamp", "the lamp. a door").explain()).toBe(
    'Distinct words in common, in the same order within sentences: 3, of 4 in the output and 4 in the gold answer. The output lacks "a". It has "red", which the gold answer lacks.',
  );
});

test("the explanation of `pltrdy` says where an empty word comes from", () => {
  expect(evaluate("A door.\n", "A door.", { variant: "pltrdy" }).explain()).toBe(
    'Distinct words in common, in the same order within sentences: 2, of 3 in the output and 2 in the gold answer. White space after a full stop counts as a word, "". The output has "", which the gold answer lacks.',
  );
});

test("`pltrdy` passes equal texts at any threshold, though their published score is below 1", () => {
  const config = { variant: "pltrdy", threshold: 1 };
  expect(evaluate("The door.", "The door.", config)).toMatchObject({ pass: true, score: 2 / (2 + 1e-8) });
  expect(evaluate("The door.", "The lamp.", config).pass).toBe(false);
});

test("long texts are compared by sentence in bounded time, or not at all", () => {
  const words = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => `w${from + index}`);
  const compare = (output: string, gold: string) => evaluate(output, gold, { variant: "pltrdy" });
  const sentences = (count: number, from: number) => words(count, from).join(" is here. The ");
  expect(compare(sentences(7_000, 0), sentences(7_000, 3_500)).extra).toMatchObject({
    common_words: 3_503,
    output_words: 7_003,
  });
  const sentence = (count: number, from: number) => words(count, from).join(" ");
  expect(compare(sentence(10_000, 0), sentence(10_000, 5_000)).extra).toMatchObject({ common_words: 5_000 });
  expect(() => compare(sentence(20_000, 0), sentence(20_000, 1))).toThrow(UnusableSampleError);
  // Their words alone would fill the memory, though no two sentences share one.
  expect(() => compare(sentence(40_000, 0), sentence(40_000, 40_000))).toThrow(UnusableSampleError);
});

test("`pltrdy` leaves the main thread for few characters in many sentences, and refuses too many pairs of them", () => {
  const sentences = (count: number, words: string, firstHan: number) =>
    Array.from({ length: count }, (_, index) => `${words} ${String.fromCodePoint(firstHan + index)}.`).join(
      "",
    );
  const pltrdy = { variant: "pltrdy" };
  const isExpensive = (output: string, goldAnswer: string, profile = pltrdy) =>
    (rougeL.estimateMs?.({ output, goldAnswer }, rougeL.config.parse(profile)) ?? 0) > 1;
  // Of x and y only one is ever in common, so the other keeps every pair in play.
  const [one, other] = [sentences(833, "x y", 0x4e00), sentences(833, "y x", 0x6000)];
  const long = `y x ${"z ".repeat(2_000)}`;
  for (const [output, gold] of [
    [one, other],
    [other, one],
    [one, long],
    [long, one],
  ] as const) {
    expect(isExpensive(output, gold)).toBe(true);
    expect(isExpensive(output, gold, { variant: "lin" })).toBe(false);
  }
  expect(() => evaluate(one, other, pltrdy)).toThrow(UnusableSampleError);
  expect(() => evaluate(other, one, pltrdy)).toThrow(UnusableSampleError);
  const observation = "You open the red door. There is a lamp on the table, and a note. ".repeat(6);
  expect(isExpensive(observation, observation.replaceAll("red", "blue"))).toBe(false);
});

test("the threshold decides, and long texts are expensive", () => {
  expect(evaluate("police kill the gunman", "police killed the gunman", { threshold: 0.8 }).pass).toBe(false);
  const long = "word ".repeat(20_000);
  const config = rougeL.config.parse({});
  expect(rougeL.estimateMs?.({ output: long, goldAnswer: long }, config)).toBeGreaterThan(1);
  expect(rougeL.estimateMs?.({ output: "word", goldAnswer: "word" }, config)).toBeLessThan(1);
});

// The table from Wagner & Fischer (1974).
function slowLength(one: readonly string[], other: readonly string[]): number {
  let above = new Array<number>(other.length + 1).fill(0);
  for (const token of one) {
    const here = [0];
    for (const [column, wanted] of other.entries()) {
      here.push(
        token === wanted ? (above[column] ?? 0) + 1 : Math.max(above[column + 1] ?? 0, here[column] ?? 0),
      );
    }
    above = here;
  }
  return above.at(-1) ?? 0;
}

function randomTokens(draw: Draw, alphabet: number, length: number): string[] {
  return Array.from({ length }, () => String(draw.below(alphabet)));
}

test("the textbook pairs have their lengths", () => {
  expect(lcsLength([..."ABCBDAB"], [..."BDCABA"])).toBe(4);
  expect(lcsLength([..."XMJYAUZ"], [..."MZJAWXU"])).toBe(4);
  expect(lcsLength([], ["a"])).toBe(0);
  expect(lcsLength(["a", "b"], ["a", "b"])).toBe(2);
});

test.each([[2], [10], [200]])(
  "random texts over %p tokens have the length of the definition",
  seeded((draw, alphabet: number) => {
    for (const length of [1, 31, 32, 33, 63, 64, 65, 500]) {
      const one = randomTokens(draw, alphabet, length);
      const other = randomTokens(draw, alphabet, 1 + draw.below(2 * length));
      expect(lcsLength(one, other)).toBe(slowLength(one, other));
    }
  }),
);

test("texts of 50,000 equal tokens, the worst there are, are compared in bounded time", () => {
  const same = new Array<string>(50_000).fill("a");
  expect(lcsLength(["x", ...same, "x"], ["y", ...same, ...same, "y"])).toBe(50_000);
}, 300_000);
