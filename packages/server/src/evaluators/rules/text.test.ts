import { expect, test } from "bun:test";
import { shortened } from "../../platform/words.ts";
import {
  codePointPositions,
  countItems,
  describeDifference,
  firstDifference,
  normaliseText,
  overlapOf,
  sizeOf,
  subtract,
} from "./text.ts";

test("a character outside the basic plane counts as one", () => {
  expect(codePointPositions("a😀b", [[3, 4]])).toEqual([[2, 3]]);
});

test("ranges may overlap and come in any order", () => {
  expect(
    codePointPositions("😀😀x", [
      [4, 5],
      [0, 4],
    ]),
  ).toEqual([
    [2, 3],
    [0, 2],
  ]);
});

test("an empty text and no ranges give what they should", () => {
  expect(codePointPositions("", [[0, 0]])).toEqual([[0, 0]]);
  expect(codePointPositions("abc", [])).toEqual([]);
});

test("a lone surrogate counts as one, and a combining mark too", () => {
  expect(codePointPositions("\ud83dx", [[1, 2]])).toEqual([[1, 2]]);
  expect(codePointPositions("e\u0301x", [[2, 3]])).toEqual([[2, 3]]);
});

test("a text is cut between characters", () => {
  expect(shortened("a😀😀", 4)).toBe("a😀…");
  expect(shortened("a😀😀", 5)).toBe("a😀😀");
});

const nothing = { trim: false, ignore_case: false, strip_tags: false };

test("a text stays as it is unless the profile says otherwise", () => {
  expect(normaliseText(" <think>a</think>B ", nothing)).toEqual({
    text: " <think>a</think>B ",
    range: [0, 19],
  });
});

test("the remaining text keeps its place in the original", () => {
  expect(normaliseText("  Ab ", { ...nothing, trim: true, ignore_case: true })).toEqual({
    text: "ab",
    range: [2, 4],
  });
  // The reasoning says the same words.
  expect(normaliseText("<think>no</think> no", { ...nothing, trim: true, strip_tags: true })).toEqual({
    text: "no",
    range: [18, 20],
  });
  expect(normaliseText("   ", { ...nothing, trim: true }).text).toBe("");
});

test("what changes its length with its case has no place", () => {
  // A capital I with a dot becomes two units in lower case.
  expect(normaliseText("İx", { ...nothing, ignore_case: true })).toEqual({ text: "i̇x" });
});

test("equal texts do not differ", () => {
  expect(firstDifference("", "")).toBeUndefined();
  expect(firstDifference("a😀", "a😀")).toBeUndefined();
});

test("the first unit that differs is found, also where one text ends", () => {
  expect(firstDifference("open door", "open gate")).toBe(5);
  expect(firstDifference("open", "open door")).toBe(4);
  expect(firstDifference("", "x")).toBe(0);
});

test("two characters that share their first surrogate differ from that one on", () => {
  expect(firstDifference("a😀", "a😁")).toBe(1);
});

test("the place is reported in code points of the output", () => {
  expect(describeDifference("😀 open", "😀 shut", 3)).toBe(
    'The output differs from character 2 on: it has "open", but the gold answer has "shut".',
  );
});

test("text before the compared part moves the place, not the excerpt", () => {
  expect(describeDifference("\n\nab", "ac", 1, 2)).toBe(
    'The output differs from character 3 on: it has "b", but the gold answer has "c".',
  );
});

test("a text that has ended is said to have ended", () => {
  expect(describeDifference("open", "open door", 4)).toContain(
    'it ends there, but the gold answer has " door"',
  );
});

test("an empty output is said to be empty", () => {
  expect(describeDifference("", "open", 0)).toBe('The output is empty, but the gold answer has "open".');
  expect(describeDifference("  ", "open", 0, 2)).toStartWith("The output is empty");
});

test("long texts are cut, never through a character", () => {
  expect(describeDifference("😀".repeat(100), "x", 0)).toContain(`"${"😀".repeat(40)}…"`);
});

test.each([
  ["a\u00a0door", "a door", 1, "(U+00A0, not U+0020)"],
  ["caf\u00e9", "cafe\u0301", 3, "(U+00E9, not U+0065)"],
  ["open\u200b", "open", 4, "(U+200B, not the end)"],
  ["\u22125", "-5", 0, "(U+2212, not U+002D)"],
])("a difference between %j and %j, which cannot be seen, is named", (output, gold, at, named) => {
  expect(describeDifference(output, gold, at)).toEndWith(` ${named}.`);
});

test("characters that look different are not named", () => {
  for (const [output, gold] of [
    ["open", "shut"],
    ["a\nb", "a b"],
    ["😀", "😁"],
  ] as const)
    expect(describeDifference(output, gold, firstDifference(output, gold) ?? 0)).not.toContain("U+");
});

const one = countItems(["a", "a", "b", "__proto__"]);
const other = countItems(["a", "b", "b", "c"]);

test("items are counted, also those that have names of object properties", () => {
  expect([...one]).toEqual([
    ["a", 2],
    ["b", 1],
    ["__proto__", 1],
  ]);
  expect(sizeOf(one)).toBe(4);
});

test("what two have in common is clipped by the smaller count", () => {
  expect(overlapOf(one, other)).toBe(2);
  expect(overlapOf(other, one)).toBe(2);
});

test("what the other lacks is left as often as it lacks it", () => {
  expect([...subtract(one, other)]).toEqual([
    ["a", 1],
    ["__proto__", 1],
  ]);
  expect([...subtract(other, one)]).toEqual([
    ["b", 1],
    ["c", 1],
  ]);
});
