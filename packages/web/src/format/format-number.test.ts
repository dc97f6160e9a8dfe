import { expect, test } from "bun:test";
import { formatDuration } from "./format-number.ts";

test.each([
  [0, "0 µs"],
  [0.84, "840 µs"],
  [0.9996, "1.0 ms"],
  [12.44, "12.4 ms"],
  [99.96, "100 ms"],
  [999.6, "1.00 s"],
  [1_234, "1.23 s"],
  [130_000, "130.0 s"],
])("%d ms is %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});
