import { afterAll, expect, test } from "bun:test";
import {
  fromLocalInput,
  listedTime,
  periodBounds,
  readPeriodSearch,
  relativeTime,
  stepStartsMs,
  toLocalInput,
} from "./times.ts";

const nowMs = Date.parse("2026-03-10T14:20:00Z");

test("a distance in time has as many units as are full", () => {
  const ago = (minutes: number) => relativeTime(new Date(nowMs - minutes * 60_000).toISOString(), nowMs);
  expect([0.1, 1, 59.6, 35 * 60, 13 * 1440].map(ago)).toEqual([
    "just now",
    "1 minute ago",
    "59 minutes ago",
    "1 day ago",
    "1 week ago",
  ]);
});

test("an unknown period is ignored", () => {
  expect(readPeriodSearch({ period: "30d" })).toEqual({ period: "30d" });
  for (const period of ["1y", 7, undefined, ["7d"]]) expect(readPeriodSearch({ period })).toEqual({});
});

test("24 hours are 24 steps, including the current hour", () => {
  const { since, step } = periodBounds("24h", nowMs);
  expect({ since, step }).toEqual({ since: "2026-03-09T15:00:00.000Z", step: "hour" });
  expect(stepStartsMs(since, step, nowMs)).toHaveLength(24);
});

test("longer periods are UTC days, including today", () => {
  for (const [period, days] of [
    ["7d", 7],
    ["30d", 30],
    ["90d", 90],
  ] as const) {
    const { since, step } = periodBounds(period, nowMs);
    const starts = stepStartsMs(since, step, nowMs);
    expect(starts).toHaveLength(days);
    expect(new Date(starts.at(-1) ?? 0).toISOString()).toBe("2026-03-10T00:00:00.000Z");
  }
});

// The zone of Bun's tests.
afterAll(() => {
  process.env.TZ = "Etc/UTC";
});

test.each([
  ["UTC", "2026-03-04T05:06"],
  ["Asia/Kathmandu", "2026-03-04T10:51"],
  ["America/Los_Angeles", "2026-03-03T21:06"],
])("an instant round-trips through the input in %s", (zone, input) => {
  process.env.TZ = zone;
  const instant = "2026-03-04T05:06:00Z";
  expect(toLocalInput(instant)).toBe(input);
  expect(fromLocalInput(input)).toBe(instant);
});

test("incomplete input is undefined", () => {
  expect(toLocalInput(undefined)).toBe("");
  expect(fromLocalInput("")).toBeUndefined();
  expect(fromLocalInput("2026-13-99T00:00")).toBeUndefined();
  expect(fromLocalInput("0002-01-01T00:00")).toBeUndefined();
});

test("in a list, rows of the same minute are told apart, and older ones have a date", () => {
  expect(listedTime("2026-03-10T14:19:07Z", nowMs)).toMatch(/^\d\d:19:07$/);
  expect(listedTime("2026-03-08T12:00:00Z", nowMs)).toBe("8 Mar 2026");
});
