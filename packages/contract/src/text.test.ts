import { expect, test } from "bun:test";
import { dateTime, readInstant } from "./text.ts";

const midnight = Date.UTC(2026, 10, 21) * 1000;

test.each([
  ["2026-11-21T00:00:00Z", 0],
  ["2026-11-21T00:00:00", 0],
  ["2026-11-21T00:00", 0],
  ["2026-11-21T00:00Z", 0],
  ["2026-11-21", 0],
  ["2026-11-21 00:00:00+00:00", 0],
  ["2026-11-21t00:00:00z", 0],
  ["2026-11-21T02:00:00+02:00", 0],
  ["2026-11-21T02:00:00+0200", 0],
  ["2026-11-20T18:30:00.5-05:30", 500_000],
  ["2026-11-21T00:00:00.123456Z", 123_456],
  ["2026-11-21T00:00:00.1234569", 123_456],
])("%s is %d microseconds after that midnight", (text, micros) => {
  expect(readInstant(text) - midnight).toBe(micros);
  expect(dateTime().safeParse(text).success).toBe(true);
});

test.each([
  [""],
  ["soon"],
  ["1700000000"],
  ["20261121"],
  ["2026-13-01"],
  ["2026-02-30"],
  ["2026-02-29T00:00:00Z"],
  ["2026-1-31"],
  ["10000-01-01"],
  ["2026-11-21Z"],
  ["2026-11-21T12"],
  ["2026-11-21T12:00.5Z"],
  ["2026-11-21T24:00:00Z"],
  ["2026-11-21T23:59:60Z"],
  ["2026-11-21T00:00:00+24:00"],
  ["2026-11-21T00:00:00+02"],
  ["2026-11-21T00:00:00Z "],
])("%j is no date-time", (text) => {
  expect(readInstant(text)).toBeNaN();
  expect(dateTime().safeParse(text).success).toBe(false);
});
