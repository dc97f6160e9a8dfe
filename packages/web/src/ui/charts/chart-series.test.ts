import { expect, test } from "bun:test";
import { formatChartValue } from "./time-series.ts";

test("a missing value is not 0", () => {
  expect(formatChartValue(null, String)).toBe("–");
  expect(formatChartValue(undefined, String)).toBe("–");
  expect(formatChartValue(0, String)).toBe("0");
  expect(formatChartValue([0.25, 0.5], String)).toBe("0.25 – 0.5");
});
