import { expect, test } from "bun:test";
import { toMille } from "../summary/score-mille.ts";
import { milleOfStep, scoreRuns } from "../summary/score-runs.ts";

/** Every thousandth that some runs hold, as often as they hold it. */
function thousandthsOf(runs: ReturnType<typeof scoreRuns>): number[] {
  return runs
    .flatMap(({ unit, value }) =>
      unit === "mille" ? [value] : Array.from({ length: milleOfStep }, (_, at) => value * milleOfStep + at),
    )
    .filter((mille) => mille <= 1000);
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test.each([
  [undefined, undefined],
  [0, 1],
  [0.5, undefined],
  [undefined, 0.5],
  [0.1234, 0.9876],
  [0.04, 0.08],
  [0.3, 0.3],
  [0.001, 0.999],
  [-1, 2],
])("the runs of %p to %p hold each thousandth between them once", (min, max) => {
  const runs = scoreRuns(min, max);
  expect(thousandthsOf(runs)).toEqual(range(toMille(Math.max(min ?? 0, 0)), toMille(Math.min(max ?? 1, 1))));
  expect(runs.length).toBeLessThanOrEqual(104);
});

test("only the thousandths of the bounds themselves are looked at score by score", () => {
  const cut = scoreRuns(0.1234, 0.9876).filter(({ isCut }) => isCut);
  expect(cut).toEqual([
    { unit: "mille", value: 123, isCut: true },
    { unit: "mille", value: 988, isCut: true },
  ]);
  expect(scoreRuns(0, 1).some(({ isCut }) => isCut)).toBe(false);
});

test("an open range is 26 runs", () => {
  expect(scoreRuns(undefined, undefined)).toHaveLength(26);
});

test("no score is beyond the ends or between bounds that are crossed", () => {
  expect(scoreRuns(1.5, undefined)).toEqual([]);
  expect(scoreRuns(undefined, -0.5)).toEqual([]);
  expect(scoreRuns(0.6, 0.4)).toEqual([]);
});
