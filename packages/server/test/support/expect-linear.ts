import { expect } from "bun:test";

/** The time that short work may take for reasons other than its length. */
const noiseMs = 50;

/**
 * Fails if work on twice as much takes much more than twice the processor time, whatever else the machine does. If each character were
 * compared with all others, it would take four times as much.
 */
export function expectLinear(work: (length: number) => void, length: number): void {
  const most = 3 * processorMs(() => work(length)) + noiseMs;
  let double = Number.POSITIVE_INFINITY;
  // Garbage of earlier tests is collected only once.
  for (let tries = 0; tries < 3 && double > most; tries++)
    double = Math.min(
      double,
      processorMs(() => work(2 * length)),
    );
  expect(double).toBeLessThanOrEqual(most);
}

function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
