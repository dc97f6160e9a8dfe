import { setTimeout as sleep } from "node:timers/promises";

/** Repeats `probe` until it returns what is wanted; returns the last answer, for an assertion to judge. */
export async function eventually<Value>(
  probe: () => Value | Promise<Value>,
  isWanted: (value: Value) => boolean,
  patienceMs = 15_000,
): Promise<Value> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const value = await probe();
    if (isWanted(value) || performance.now() > deadlineMs) return value;
    await sleep(20);
  }
}
