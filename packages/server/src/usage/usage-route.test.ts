import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import type { LatencyQuery } from "@presage/contract";
import { InvalidRequestError } from "../http/validate.ts";
import { microsPerHour } from "../platform/storage/columns.ts";
import { type RequestedPeriod, readUsagePeriod } from "./usage-route.ts";

beforeEach(() => {
  setSystemTime(new Date("2026-03-10T15:20:00Z"));
});
afterEach(() => {
  setSystemTime();
});

function hoursOf({ fromHour, untilHour }: RequestedPeriod): string[] {
  return [fromHour, untilHour].map((hour) => new Date((hour * microsPerHour) / 1_000).toISOString());
}

function issuesOf(query: LatencyQuery): readonly unknown[] {
  try {
    readUsagePeriod(query);
    return [];
  } catch (failure) {
    if (failure instanceof InvalidRequestError) return failure.issues;
    throw failure;
  }
}

describe("A period", () => {
  test.each<[string, LatencyQuery, from: string, until: string]>([
    ["of nothing is seven days up to now", {}, "2026-03-03T00:00", "2026-03-10T16:00"],
    ["by the hour begins with an hour", { step: "hour" }, "2026-03-03T15:00", "2026-03-10T16:00"],
    [
      "ends before an hour that begins then",
      { until: "2026-03-09T04:00:00Z" },
      "2026-03-02T00:00",
      "2026-03-09T04:00",
    ],
    ["without an offset is UTC", { since: "2026-03-09T23:30:00" }, "2026-03-09T00:00", "2026-03-10T16:00"],
    [
      "with an offset is that",
      { since: "2026-03-09T23:30:00-02:00" },
      "2026-03-10T00:00",
      "2026-03-10T16:00",
    ],
  ])("%s", (_, query, from, until) => {
    expect(hoursOf(readUsagePeriod(query))).toEqual([`${from}:00.000Z`, `${until}:00.000Z`]);
  });

  test.each<["since" | "until", LatencyQuery]>([
    ["until", { until: "0000-01-01T00:00:00Z" }],
    ["until", { until: "0000-01-07T23:00:00Z" }],
    ["until", { until: "0000-01-01T00:00:00+05:00", since: "0000-01-01T00:00:00+05:00" }],
    ["until", { until: "9999-12-31T23:59:59-05:00", since: "9999-12-31T00:00:00Z" }],
    ["until", { until: "9999-12-31T23:59:59.999999999Z", since: "9999-12-31T00:00:00Z" }],
    ["since", { until: "0000-01-02T00:00:00Z", since: "0000-01-01T00:00:00+00:01" }],
  ])("that needs a year without four digits is refused at %s", (field, query) => {
    const error = "A period lies within the years 0000 to 9999";
    const issue = { type: "value_error", loc: ["query", field], msg: `Value error, ${error}` };
    expect(issuesOf(query)).toMatchObject([{ ...issue, input: query[field] }]);
  });

  test("may begin with the year 0000 and end with the year 9999", () => {
    const first = { since: "0000-01-01T00:00:00Z", until: "0000-01-02T00:00:00Z" };
    const last = { since: "9999-12-31T00:00:00Z", until: "9999-12-31T23:59:59Z" };
    expect([first, last].map(issuesOf)).toEqual([[], []]);
  });

  test.each<[string, LatencyQuery, string]>([
    ["that ends before it begins", { since: "2026-03-11T00:00:00Z" }, "since must not be after until"],
    ["of more than 400 days", { since: "2025-02-01T00:00:00Z" }, "A period has at most 400 days"],
    [
      "of more than 31 days by the hour",
      { since: "2026-02-01T00:00:00Z", step: "hour" },
      "A period by the hour has at most 31 days",
    ],
  ])("%s is refused at since", (_, query, error) => {
    const issue = { type: "value_error", loc: ["query", "since"], msg: `Value error, ${error}` };
    expect(issuesOf(query)).toMatchObject([{ ...issue, input: query.since, ctx: { error } }]);
  });
});
