import { expect, test } from "bun:test";
import { toSummaryGroups } from "./summary-route.ts";
import type { GroupTotals } from "./summary-store.ts";

const nothing: GroupTotals = {
  count: 0,
  passed: 0,
  not_passed: 0,
  failed: 0,
  not_applicable: 0,
  scored: 0,
  score_sum: 0,
  score_sum_of_squares: 0,
  p10: null,
  p50: null,
  p90: null,
};

test("failures are counted, but not as fails", () => {
  const [group] = toSummaryGroups(
    [
      {
        ...nothing,
        count: 200,
        passed: 15,
        not_passed: 133,
        failed: 42,
        scored: 158,
        score_sum: 20,
        score_sum_of_squares: 17.5,
        p10: 0,
        p50: 0,
        p90: 500,
      },
    ],
    [],
    true,
  );
  expect(group).toMatchObject({ key: {}, count: 200, scored: 158, passed: 15, not_passed: 133, failed: 42 });
  expect(group?.pass_rate).toBeCloseTo(15 / 148, 12);
  expect(group?.pass_rate_interval?.lower).toBeCloseTo(0.0624, 4);
  expect(group?.mean_score).toBeCloseTo(20 / 158, 12);
  expect([group?.p10, group?.p50, group?.p90]).toEqual([0, 0, 0.5]);
});

test("a group of failures only has null figures", () => {
  expect(toSummaryGroups([{ ...nothing, count: 3, failed: 3 }], [], true)).toEqual([
    {
      key: {},
      count: 3,
      scored: 0,
      passed: 0,
      not_passed: 0,
      failed: 3,
      not_applicable: 0,
      interval_method: "independent",
      clusters: null,
      pass_rate: null,
      pass_rate_interval: null,
      mean_score: null,
      mean_score_interval: null,
      p10: null,
      p50: null,
      p90: null,
    },
  ]);
});

test("groups are sorted by day, then by size, then by name", () => {
  const groups = toSummaryGroups(
    [
      { ...nothing, day: 2, app: "a", count: 9 },
      { ...nothing, day: 1, app: "c", count: 1 },
      { ...nothing, day: 1, app: "a", count: 1 },
      { ...nothing, day: 1, app: "b", count: 5 },
    ],
    ["day", "app"],
    true,
  );
  expect(groups.map(({ key, count }) => ({ ...key, count }))).toEqual([
    { day: 1, app: "b", count: 5 },
    { day: 1, app: "a", count: 1 },
    { day: 1, app: "c", count: 1 },
    { day: 2, app: "a", count: 9 },
  ]);
});
