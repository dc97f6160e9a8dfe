import { expect, test } from "bun:test";
import { describeClock } from "./doctor.ts";

test.each([
  [undefined, "off"],
  [-200, "good"],
  [61_000, "bad"],
  [-61_000, "bad"],
] as const)("A database's clock that is ahead by %p ms is %s", (aheadMs, state) => {
  expect(describeClock(aheadMs).state).toBe(state);
});

test("A clock that jumped is bad while the database's and this machine's agree", () => {
  const seenClock = {
    believed: Date.UTC(2026, 0, 1) * 1_000,
    jumped: { seen: Date.UTC(2026, 1, 10) * 1_000, ran: 0 },
  };
  const finding = describeClock(0, seenClock);
  expect([finding.state, finding.text]).toEqual([
    "bad",
    expect.stringMatching(/2026-01-01.*2026-02-10.*24 h/),
  ]);
});
