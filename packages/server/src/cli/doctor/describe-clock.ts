import { maxSkewMs } from "../../storage/clock-skew.ts";
import type { Finding } from "./finding.ts";

/** What it means that the database's clock is ahead of this machine's by so much; undefined if it has none. */
export function describeClock(aheadMs: number | undefined): Finding {
  if (aheadMs === undefined)
    return { check: "clock", state: "off", text: "SQLite uses this machine's clock" };
  const difference = `${(Math.abs(aheadMs) / 1000).toFixed(2)} s`;
  const text = `this machine's and the database's differ by ${difference}`;
  if (Math.abs(aheadMs) <= maxSkewMs) return { check: "clock", state: "good", text };
  return { check: "clock", state: "bad", text: `${text}. Correct the wrong one; a server does not start` };
}
