import { expect, test } from "bun:test";
import { toThousandths } from "../result.ts";
import { scoreGroups, thousandthsPerStep } from "./filter.ts";

/** Every thousandth in these groups, as often as it occurs. */
function thousandthsOf(groups: ReturnType<typeof scoreGroups>): number[] {
  return groups
    .flatMap(({ unit, value }) =>
      unit === "thousandth"
        ? [value]
        : Array.from({ length: thousandthsPerStep }, (_, at) => value * thousandthsPerStep + at),
    )
    .filter((thousandth) => thousandth <= 1000);
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
])("the score groups from %p to %p have each thousandth in between once", (min, max) => {
  const groups = scoreGroups(min, max);
  const first = toThousandths(Math.max(min ?? 0, 0));
  const last = toThousandths(Math.min(max ?? 1, 1));
  expect(thousandthsOf(groups)).toEqual(range(first, last));
  expect(groups.length).toBeLessThanOrEqual(104);
});

test("only in the thousandths of the bounds themselves is each score checked", () => {
  const cut = scoreGroups(0.1234, 0.9876).filter(({ isCut }) => isCut);
  expect(cut).toEqual([
    { unit: "thousandth", value: 123, isCut: true },
    { unit: "thousandth", value: 988, isCut: true },
  ]);
  expect(scoreGroups(0, 1).some(({ isCut }) => isCut)).toBe(false);
});

test("an open range is 26 groups", () => {
  expect(scoreGroups(undefined, undefined)).toHaveLength(26);
});

test("beyond the ends, or between bounds that are crossed, there is no group", () => {
  expect(scoreGroups(1.5, undefined)).toEqual([]);
  expect(scoreGroups(undefined, -0.5)).toEqual([]);
  expect(scoreGroups(0.6, 0.4)).toEqual([]);
});
