import { expect, test } from "bun:test";
import { readDuration } from "./result-facts.tsx";

test("durations in days, hours, minutes and seconds are read to the microsecond", () => {
  expect(readDuration("PT0.000043S")).toBeCloseTo(0.043, 6);
  expect(readDuration("PT1M2.5S")).toBe(62_500);
  expect(readDuration("P1DT1H")).toBe(90_000_000);
});

test("durations without a fixed length are not read", () => {
  for (const text of ["P1M", "P1Y", "1s", ""]) expect(readDuration(text)).toBeUndefined();
});
