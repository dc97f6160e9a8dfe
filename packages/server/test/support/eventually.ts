import { expect } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";

/** Repeats `probe` until it returns a wanted value or time is up; returns the last value, for an assertion to judge. */
export async function eventually<Value>(
  probe: () => Value | Promise<Value>,
  isWanted: (value: Value) => boolean,
  patienceMs = 60_000,
): Promise<Value> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const value = await probe();
    if (isWanted(value) || performance.now() > deadlineMs) return value;
    await sleep(20);
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
