import { afterAll, expect, test } from "bun:test";
import { fromLocalInput, toLocalInput } from "./filter-fields.tsx";

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
