import { expect, test } from "bun:test";
import { nextSeen, type SeenClock } from "./clock.ts";
import { microsPerDay, microsPerSecond } from "./columns.ts";

const start = Date.UTC(2026, 10, 1) * 1_000;
const minute = 60 * microsPerSecond;
const jump = start + 40 * microsPerDay;

/** Looks at the clock every ten minutes from a time on, until it is believed or `most` times. */
function look(seen: SeenClock, from: number, most = 1_000): { seen: SeenClock; after: number } {
  let last = seen;
  for (let count = 0; count < most; count += 1) {
    last = nextSeen(last, from + count * 10 * minute);
    if (last.jumped === undefined) return { seen: last, after: count * 10 * minute };
  }
  return { seen: last, after: Number.POSITIVE_INFINITY };
}

test("A clock is believed at first, while it goes on, after a night without a server, and set back", () => {
  expect(nextSeen(undefined, start)).toEqual({ believed: start });
  for (const now of [start + 10 * minute, start + 2 * microsPerDay, start - 40 * microsPerDay])
    expect(nextSeen({ believed: start }, now)).toEqual({ believed: now });
});

test("A clock that jumped is believed after a day of running, which stops, another jump and restarts do not shorten", () => {
  expect(look({ believed: start }, jump).after).toBe(microsPerDay);
  const half = look({ believed: start }, jump, 73).seen;
  expect(half.jumped?.ran).toBe(microsPerDay / 2);
  const later = look(half, jump + 90 * microsPerDay);
  expect(later.seen.believed - (jump + 90 * microsPerDay)).toBeGreaterThan(microsPerDay / 2 - 20 * minute);
});

test("A clock that is corrected is believed at once", () => {
  const jumped = nextSeen({ believed: start }, jump);
  expect(jumped.jumped).toBeDefined();
  expect(nextSeen(jumped, start + 20 * minute)).toEqual({ believed: start + 20 * minute });
});
