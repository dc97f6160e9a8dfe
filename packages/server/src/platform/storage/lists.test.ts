import { expect, test } from "bun:test";
import { splitByBytes } from "./lists.ts";

const bytesOf = new Map([
  [1, 10],
  [2, 10],
  [3, 11],
  [4, 0],
  [5, 50],
  [6, 1],
]);

const cases: { maxIds: number; maxBytes: number; pieces: number[][] }[] = [
  { maxIds: 100, maxBytes: 20, pieces: [[1, 2], [3, 4], [5], [6]] },
  { maxIds: 100, maxBytes: 1_000, pieces: [[1, 2, 3, 4, 5, 6]] },
  {
    maxIds: 4,
    maxBytes: 1_000,
    pieces: [
      [1, 2, 3, 4],
      [5, 6],
    ],
  },
  { maxIds: 1, maxBytes: 1, pieces: [[1], [2], [3], [4], [5], [6]] },
];

test.each(cases)(
  "pieces of at most $maxIds results and $maxBytes bytes are full and in order",
  ({ pieces, ...piece }) => {
    expect(splitByBytes([1, 2, 3, 4, 5, 6], bytesOf, piece)).toEqual(pieces);
  },
);

test("no ids are no pieces", () => {
  expect(splitByBytes([], bytesOf, { maxIds: 1, maxBytes: 1 })).toEqual([]);
});
