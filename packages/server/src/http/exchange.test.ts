import { expect, test } from "bun:test";
import { usageFailureOf } from "./exchange.ts";

test.each([
  [200, undefined, undefined],
  [201, undefined, undefined],
  [400, undefined, "invalid"],
  [402, undefined, "budget"],
  [422, undefined, "invalid"],
  [413, "context_exceeded", "context_exceeded"],
  [413, undefined, "invalid"],
  [429, "rate_limit", "rate_limit"],
  [503, "unavailable", "unavailable"],
  [504, "timeout", "timeout"],
  [500, undefined, "other"],
] as const)("a response with status %d and category %p counts as %p", (status, category, failure) => {
  expect(usageFailureOf(status, category)).toBe(failure);
});

test("a client that disconnected did not send an invalid request", () => {
  expect(usageFailureOf(499, undefined)).toBe("other");
});
