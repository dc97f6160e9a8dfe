import { expect, test } from "bun:test";
import { codeUnitRanges, textRows } from "./text-ranges.ts";

function marked(text: string, positions: [number, number][]): string[] {
  return codeUnitRanges(text, positions).map(({ start, end }) => text.slice(start, end));
}

test("positions count characters, not code units", () => {
  expect(
    marked("😀 a 😀 bc", [
      [4, 5],
      [6, 8],
    ]),
  ).toEqual(["😀", "bc"]);
});

test("positions may be unordered, overlap and touch", () => {
  expect(
    marked("abcdef", [
      [3, 5],
      [0, 2],
      [1, 3],
    ]),
  ).toEqual(["abcde"]);
});

test("positions beyond the text are ignored or cut", () => {
  expect(
    marked("abc", [
      [2, 9],
      [7, 8],
      [1, 1],
    ]),
  ).toEqual(["c"]);
});

test("each line is a row, including empty ones and the one after the last newline", () => {
  expect(textRows("a\n\nb\n")).toEqual([
    { start: 0, end: 1, line: 1 },
    { start: 2, end: 2, line: 2 },
    { start: 3, end: 4, line: 3 },
    { start: 5, end: 5, line: 4 },
  ]);
});

test("a long line is split into rows, and only the first has a number", () => {
  const text = `${"x".repeat(2_500)}\ny`;
  const rows = textRows(text);
  expect(rows.map(({ line }) => line)).toEqual([1, undefined, undefined, 2]);
  expect(rows.map(({ start, end }) => text.slice(start, end)).join("")).toBe(text.replace("\n", ""));
});

test("no surrogate pair is split", () => {
  const text = `x${"😀".repeat(2_000)}`;
  for (const { start, end } of textRows(text)) expect(text.slice(start, end).isWellFormed()).toBe(true);
});
