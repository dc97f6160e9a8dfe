import { expect, test } from "bun:test";
import { describeClock } from "./describe-clock.ts";

test.each([
  [undefined, "off"],
  [-200, "good"],
  [61_000, "bad"],
  [-61_000, "bad"],
] as const)("A database's clock that is ahead by %p ms is %s", (aheadMs, state) => {
  expect(describeClock(aheadMs).state).toBe(state);
});
