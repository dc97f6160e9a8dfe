import { expect, test } from "bun:test";
import { readRetryAfterMs } from "./read-error.ts";

const serverNow = { date: "Fri, 31 Dec 1999 23:59:00 GMT" };

test.each([
  ["0", 0],
  ["120", 120_000],
  ["0.5", 500],
  [" 7 ", 7000],
  // The date of RFC 9110, section 10.2.3, 59 seconds after the server's own.
  ["Fri, 31 Dec 1999 23:59:59 GMT", 59_000],
  ["Fri, 31 Dec 1999 23:00:00 GMT", 0],
])("%j is %d ms", (text, ms) => {
  expect(readRetryAfterMs(new Headers({ ...serverNow, "retry-after": text }))).toBe(ms);
});

test.each([[""], ["soon"], ["-5x"]])("%j is ignored", (text) => {
  expect(readRetryAfterMs(new Headers({ "retry-after": text }))).toBeUndefined();
});

test("a response without the header has no wait", () => {
  expect(readRetryAfterMs(new Headers())).toBeUndefined();
});

test("a date is relative to the local clock if the server sends no date", () => {
  const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
  const waitMs = readRetryAfterMs(new Headers({ "retry-after": inTenSeconds }));
  expect(waitMs).toBeGreaterThan(8000);
  expect(waitMs).toBeLessThanOrEqual(10_000);
});
