import { expect, test } from "bun:test";
import { describeCapture } from "./describe-capture.ts";

test.each([
  ["off", "none"],
  ["0", "none"],
  ["failures", "those that fail"],
  ["all", "all"],
  ["1", "all"],
  ["0.01", "1 in 100"],
  ["0.0001", "1 in 10,000"],
  ["0.3", "30 %"],
])("%s is described as “%s”", (setting, words) => {
  expect(describeCapture(setting)).toBe(words);
});
