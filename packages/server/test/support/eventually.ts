import { expect } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";

/** Repeats `probe` until it returns a wanted value or time is up; returns the last value, for an assertion to judge. */
export async function eventually<Value>(
  probe: () => Value | Promise<Value>,
  isWanted: (value: Value) => boolean,
  patienceMs = 60_000,
): Promise<Value> {
  const startedAtMs = performance.now();
  for (;;) {
    const value = await probe();
    const waitedMs = performance.now() - startedAtMs;
    if (isWanted(value) || waitedMs > patienceMs) return value;
    // A slow probe is repeated less often: on a busy machine, probing takes time from the work that is waited for.
    await sleep(Math.min(20 + waitedMs / 10, 250));
  }
}

/** Waits until `probe` returns `wanted`, and fails if it does not. */
export async function expectEventually<Value>(
  probe: () => Value | Promise<Value>,
  wanted: NoInfer<Value>,
  patienceMs?: number,
): Promise<void> {
  expect<unknown>(await eventually(probe, (value) => value === wanted, patienceMs)).toBe(wanted);
}
