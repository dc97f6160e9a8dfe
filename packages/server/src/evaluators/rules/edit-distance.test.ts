import { expect, test } from "bun:test";
import type { Draw } from "../../../../../fuzz/generate/draw.ts";
import { seeded } from "../../../test/support/seeded.ts";
import { isWholeRun } from "../../../test/support/whole-run.ts";
import { countEdits, editDistance } from "./edit-distance.ts";

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

// Wagner & Fischer (1974), the definition itself.
function slowDistance(one: string, other: string): number {
  const left = [...one];
  const right = [...other];
  let above = right.map((_, index) => index + 1);
  above.unshift(0);
  for (const [row, character] of left.entries()) {
    const here = [row + 1];
    for (const [column, wanted] of right.entries()) {
      here.push(
        Math.min(
          (above[column + 1] ?? 0) + 1,
          (here[column] ?? 0) + 1,
          (above[column] ?? 0) + (character === wanted ? 0 : 1),
        ),
      );
    }
    above = here;
  }
  return above.at(-1) ?? 0;
}

function randomText(draw: Draw, alphabet: readonly string[], length: number): string {
  return Array.from({ length }, () => draw.pick(alphabet)).join("");
}

test("the textbook pairs have their distances", () => {
  expect(countEdits("kitten", "sitting")).toEqual({ edits: 3, longer: 7 });
  expect(countEdits("Saturday", "Sunday")).toEqual({ edits: 3, longer: 8 });
  expect(countEdits("", "abc")).toEqual({ edits: 3, longer: 3 });
  expect(countEdits("", "")).toEqual({ edits: 0, longer: 0 });
});

test("a character outside the first plane is one character", () => {
  // Both emoji begin with the same surrogate.
  expect(countEdits("a😀b", "a😁b")).toEqual({ edits: 1, longer: 3 });
  expect(countEdits("😀", "")).toEqual({ edits: 1, longer: 1 });
  expect(countEdits("𝒳😀y", "zq")).toEqual({ edits: 3, longer: 3 });
});

test("a lone surrogate is a character too", () => {
  expect(countEdits("a\ud83d", "a😀")).toEqual({ edits: 1, longer: 2 });
});

test.each([
  ["letters", [..."abcd"]],
  ["letters, accents and emoji", [..."aé漢😀😁𝒳"]],
])(
  "random texts of %s have the distance of the definition",
  seeded((draw, _: string, alphabet: string[]) => {
    for (const length of [1, 31, 32, 33, 64, 65, 300]) {
      const one = randomText(draw, alphabet, length);
      const other = randomText(draw, alphabet, 1 + draw.below(Math.ceil(1.5 * length)));
      expect(countEdits(one, other)?.edits).toBe(slowDistance(one, other));
    }
  }),
);

test("long texts without a common end are compared in bounded time", () => {
  const pairs = isWholeRun ? 50_000 : 15_000;
  const one = `x${"ab".repeat(pairs)}x`;
  const other = `y${"ba".repeat(pairs)}y`;
  // Both ends change, and the letters between them shift by one.
  expect(countEdits(one, other)).toEqual({ edits: 4, longer: 2 * pairs + 2 });
}, 300_000);

test("texts that would take minutes are not compared, unless they differ in one stretch only", () => {
  const long = "ab".repeat(500_000);
  expect(countEdits(`x${long}x`, `y${long}y`)).toBeUndefined();
  expect(countEdits(`${long}x${long}`, `${long}y${long}`)).toEqual({ edits: 1, longer: 2_000_001 });
});
