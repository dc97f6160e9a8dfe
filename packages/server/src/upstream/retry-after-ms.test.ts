import { expect, test } from "bun:test";
import { askedPauseMs } from "./retry-after-ms.ts";

test("Retry-After is a number of seconds", () => {
  expect(askedPauseMs("7")).toBe(7_000);
  expect(askedPauseMs("0.5")).toBe(500);
});

test("or a date", () => {
  const pauseMs = askedPauseMs(new Date(Date.now() + 60_000).toUTCString());
  expect(pauseMs).toBeGreaterThan(50_000);
  expect(pauseMs).toBeLessThanOrEqual(60_000);
});

test("No pause is asked for by none, by the past, and by what is neither", () => {
  for (const asked of [undefined, "", "-7", "Sat, 21 Nov 2020 00:00:00 GMT", "soon"]) {
    expect(askedPauseMs(asked)).toBe(0);
  }
});
