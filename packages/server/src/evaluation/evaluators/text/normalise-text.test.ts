import { expect, test } from "bun:test";
import { normaliseText } from "./normalise-text.ts";

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
