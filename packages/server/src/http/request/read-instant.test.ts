import { expect, test } from "bun:test";
import { readInstant } from "./read-instant.ts";

const midnight = Date.UTC(2026, 10, 21) * 1000;

test.each([
  ["2026-11-21T00:00:00Z", 0],
  ["2026-11-21T00:00:00", 0],
  ["2026-11-21T00:00", 0],
  ["2026-11-21T02:00:00+02:00", 0],
  ["2026-11-20T18:30:00.5-05:30", 500_000],
  ["2026-11-21T00:00:00.123456Z", 123_456],
  ["2026-11-21T00:00:00.1234569", 123_456],
])("%s is %d microseconds after that midnight", (text, micros) => {
  expect(readInstant(text) - midnight).toBe(micros);
});
