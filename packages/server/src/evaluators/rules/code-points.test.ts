import { expect, test } from "bun:test";
import { shortened } from "../../platform/words.ts";
import { codePointPositions } from "./text.ts";

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
