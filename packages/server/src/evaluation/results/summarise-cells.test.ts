import { expect, test } from "bun:test";
import { summariseCells } from "./summarise-cells.ts";
import type { GroupKey, SummaryCell } from "./summary-cell.ts";

function cell(key: GroupKey, verdict: string, score: number | undefined, count: number): SummaryCell {
  return {
    ...key,
    verdict,
    score_mille: score === undefined ? -1 : Math.round(score * 1000),
    count,
    score_sum: (score ?? 0) * count,
    score_sum_of_squares: (score ?? 0) ** 2 * count,
  };
}

test("failures are counted and are no fails", () => {
  const [group] = summariseCells(
    [
      cell({}, "pass", 1, 15),
      cell({}, "fail", 0, 133),
      cell({}, "failed", undefined, 40),
      cell({}, "validation_error", undefined, 2),
      cell({}, "none", 0.5, 10),
    ],
    [],
  );
  expect(group).toMatchObject({ key: {}, count: 200, scored: 158, passed: 15, notPassed: 133, failed: 42 });
  expect(group?.passRate).toBeCloseTo(15 / 148, 12);
  expect(group?.passRateInterval?.lower).toBeCloseTo(0.0624, 4);
  expect(group?.meanScore).toBeCloseTo(20 / 158, 12);
  expect([group?.p10, group?.p50, group?.p90]).toEqual([0, 0, 0.5]);
});

test("a group of failures alone has nulls where figures would be", () => {
  const [group] = summariseCells([cell({}, "failed", undefined, 3)], []);
  expect(group).toEqual({
    key: {},
    count: 3,
    scored: 0,
    passed: 0,
    notPassed: 0,
    failed: 3,
    passRate: null,
    passRateInterval: null,
    meanScore: null,
    meanScoreInterval: null,
    p10: null,
    p50: null,
    p90: null,
  });
});

test("days come in their order, and within a day the largest group first", () => {
  const groups = summariseCells(
    [
      cell({ day: 2, app: "a" }, "pass", 1, 9),
      cell({ day: 1, app: "a" }, "pass", 1, 1),
      cell({ day: 1, app: "b" }, "pass", 1, 2),
      cell({ day: 1, app: "b" }, "fail", 0, 3),
    ],
    ["day", "app"],
  );
  expect(groups.map(({ key, count }) => ({ ...key, count }))).toEqual([
    { day: 1, app: "b", count: 5 },
    { day: 1, app: "a", count: 1 },
    { day: 2, app: "a", count: 9 },
  ]);
});

test("nothing is no group", () => {
  expect(summariseCells([], ["app"])).toEqual([]);
});
