import { expect, test } from "bun:test";
import { retryDelayMs } from "./retry.ts";

const many = Array.from({ length: 200 });

test.each([
  [0, 250, 500],
  [1, 500, 1000],
  [3, 2000, 4000],
  [4, 4000, 8000],
  [50, 4000, 8000],
])("retry %d waits for %d to %d ms", (retry, leastMs, mostMs) => {
  const delays = many.map(() => retryDelayMs(retry, undefined));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(leastMs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(mostMs);
  expect(new Set(delays).size).toBeGreaterThan(1);
});

test.each([
  [0, 0, 0],
  [100, 100, 200],
  [60_000, 60_000, 60_500],
])("with a Retry-After of %d ms it waits for %d to %d ms", (retryAfterMs, leastMs, mostMs) => {
  const delays = many.map(() => retryDelayMs(2, retryAfterMs));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(leastMs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(mostMs);
});
