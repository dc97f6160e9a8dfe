import { type Micros, microsPerMs } from "../micros.ts";

/** Another process may have renewed a lease since the clock was read. */
const graceMs = 5_000;

/** When a lease of this length ends at the latest. One that ends later was taken before the clock was set back, and holds nothing. */
export function latestEnd(now: Micros, leaseMs: number): Micros {
  return now + (leaseMs + graceMs) * microsPerMs;
}
