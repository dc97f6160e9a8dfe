import { expect, test } from "bun:test";
import { codeUnitRanges } from "./text-ranges.ts";

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
