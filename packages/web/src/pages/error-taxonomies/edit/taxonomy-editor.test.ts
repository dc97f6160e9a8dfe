import { expect, test } from "bun:test";
import { continueLine, shiftLines } from "./taxonomy-editor.tsx";

test("a new line keeps the indentation", () => {
  expect(continueLine("one\n  two", 9, 9)).toEqual({ text: "one\n  two\n  ", start: 12, end: 12 });
  expect(continueLine("one", 3, 3)).toEqual({ text: "one\n", start: 4, end: 4 });
});

test("a new line replaces the selection", () => {
  expect(continueLine("  one two", 5, 9).text).toBe("  one\n  ");
});

test("all lines of a selection move and stay selected", () => {
  const text = "one\ntwo\nthree\nfour";
  const inwards = shiftLines(text, 5, 9, "in");
  expect(inwards).toEqual({ text: "one\n  two\n  three\nfour", start: 7, end: 13 });
  expect(shiftLines(inwards.text, inwards.start, inwards.end, "out")).toEqual({ text, start: 5, end: 9 });
});

test("a line without indentation cannot be outdented", () => {
  expect(shiftLines("one", 1, 1, "out")).toEqual({ text: "one", start: 1, end: 1 });
});
