import { maxSkewMs, type SeenClock } from "../platform/storage/clock.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Finding } from "./finding.ts";

/** What it means that the database's clock is ahead of this machine's by so much (undefined if it has none), and that it jumped. */
export function describeClock(aheadMs: number | undefined, seen?: SeenClock): Finding {
  if (seen?.jumped !== undefined) {
    const [from, to] = [toIsoInstant(seen.believed), toIsoInstant(seen.jumped.seen)];
    const advice = "Correct it if it is wrong. If not, what is too old is deleted after 24 h of running";
    const text = `it jumped from ${from} to ${to} since a server last ran. ${advice}`;
    return { check: "clock", state: "bad", text };
  }
  if (aheadMs === undefined)
    return { check: "clock", state: "off", text: "SQLite uses this machine's clock" };
  const difference = `${(Math.abs(aheadMs) / 1000).toFixed(2)} s`;
  const text = `this machine's and the database's differ by ${difference}`;
  if (Math.abs(aheadMs) <= maxSkewMs) return { check: "clock", state: "good", text };
  return { check: "clock", state: "bad", text: `${text}. Correct the wrong one; a server does not start` };
}
