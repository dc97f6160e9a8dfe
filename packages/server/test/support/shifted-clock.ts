import { spyOn } from "bun:test";

export interface ShiftedClock extends Disposable {
  advance(byMs: number): void;
}

/** The monotonic clock of this process, and of servers started in it, which a test moves forward instead of waiting. Timers do not follow it. */
export function shiftedClock(): ShiftedClock {
  const now = performance.now.bind(performance);
  let shiftMs = 0;
  const spy = spyOn(performance, "now").mockImplementation(() => now() + shiftMs);
  return {
    advance(byMs) {
      shiftMs += byMs;
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}
