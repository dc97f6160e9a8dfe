import { expect, test } from "bun:test";
import { readSampleSort, sortOf, writeSampleSort } from "./sample-sort.ts";

const judges = [
  { evaluator: "exact-match-2026-01-01", profile: null },
  { evaluator: "rouge-l-2026-01-01", profile: "close ~ enough" },
];

test("what the address says leads back to the column", () => {
  for (const id of ["e0", "e1"]) {
    for (const isDescending of [true, false]) {
      const text = writeSampleSort({ id, isDescending }, judges);
      expect(sortOf(readSampleSort(text), judges)).toEqual({ id, isDescending });
    }
  }
  expect(writeSampleSort({ id: "e1", isDescending: true }, judges)).toBe(
    "-rouge-l-2026-01-01~close ~ enough",
  );
});

test("an order that is not there is none", () => {
  expect(readSampleSort(undefined)).toBeUndefined();
  expect(readSampleSort("-")).toBeUndefined();
  expect(sortOf(readSampleSort("-gone"), judges)).toBeUndefined();
  expect(writeSampleSort({ id: "sample", isDescending: false }, judges)).toBeUndefined();
});
