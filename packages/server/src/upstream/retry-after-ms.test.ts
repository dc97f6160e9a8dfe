import { expect, test } from "bun:test";
import { retryAfterMs } from "./retry.ts";

test("Retry-After is a number of seconds", () => {
  expect(retryAfterMs("7")).toBe(7_000);
  expect(retryAfterMs("0.5")).toBe(500);
});

test("or a date", () => {
  const pauseMs = retryAfterMs(new Date(Date.now() + 60_000).toUTCString());
  expect(pauseMs).toBeGreaterThan(50_000);
  expect(pauseMs).toBeLessThanOrEqual(60_000);
});

test("There is no pause without one, for the past, and for anything else", () => {
  for (const asked of [undefined, "", "-7", "Sat, 21 Nov 2020 00:00:00 GMT", "soon"]) {
    expect(retryAfterMs(asked)).toBe(0);
  }
});
