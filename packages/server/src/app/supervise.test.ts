import { expect, test } from "bun:test";
import { createRestartPause } from "./supervise.ts";

test("a worker is restarted at once, and with growing pauses while it ends at once", () => {
  const pause = createRestartPause();
  expect([60_000, 100, 100, 100, 100].map(pause.after)).toEqual([0, 0, 500, 1_000, 2_000]);
  for (let start = 0; start < 20; start++) pause.after(100);
  expect(pause.after(100)).toBe(30_000);
  expect(pause.after(60_000)).toBe(0);
});
