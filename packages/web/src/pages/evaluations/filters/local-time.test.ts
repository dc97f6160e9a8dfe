import { expect, test } from "bun:test";
import { fromLocalInput, toLocalInput } from "./local-time.ts";

test("an instant round-trips through the input in any time zone", () => {
  const instant = "2026-03-04T05:06:00Z";
  expect(toLocalInput(instant)).toMatch(/^2026-03-0[345]T\d\d:\d\d$/);
  expect(fromLocalInput(toLocalInput(instant))).toBe(instant);
});

test("incomplete input is undefined", () => {
  expect(toLocalInput(undefined)).toBe("");
  expect(fromLocalInput("")).toBeUndefined();
  expect(fromLocalInput("2026-13-99T00:00")).toBeUndefined();
  expect(fromLocalInput("0002-01-01T00:00")).toBeUndefined();
});
