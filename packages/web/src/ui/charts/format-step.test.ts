import { expect, test } from "bun:test";
import { formatStep, formatStepShort } from "./time-series.ts";

test("days are UTC days in every time zone", () => {
  const midnightMs = Date.parse("2026-03-01T00:00:00Z");
  expect(formatStepShort(midnightMs, "day")).toBe("1 Mar");
  expect(formatStep(midnightMs, "day")).toBe("Sun, 1 Mar 2026, UTC");
});

test("hours are in the user’s time zone", () => {
  // Noon in the local time zone.
  const noonMs = new Date(2026, 2, 1, 12).getTime();
  expect(formatStepShort(noonMs, "hour")).toBe("12:00");
  expect(formatStep(noonMs, "hour")).toContain("12:00–13:00");
});
