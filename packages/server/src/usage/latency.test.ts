import { expect, test } from "bun:test";
import { bucketOf, middleOf } from "./collect-usage.ts";

test("from 10 µs to a day, a bucket's middle is at most 3 % away from its latencies", () => {
  for (let latencyMs = 0.01; latencyMs < 24 * 60 * 60_000; latencyMs *= 1.003) {
    const ratio = middleOf(bucketOf(latencyMs)) / latencyMs;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.03);
  }
});

test("a longer latency never falls into an earlier bucket", () => {
  let last = 0;
  for (let latencyMs = 0.01; latencyMs < 1e6; latencyMs *= 1.01) {
    expect(bucketOf(latencyMs)).toBeGreaterThanOrEqual(last);
    last = bucketOf(latencyMs);
  }
});

test("latencies beyond all buckets fall into the first or the last", () => {
  for (const latencyMs of [0, -1, 0.001]) expect(bucketOf(latencyMs)).toBe(0);
  expect(bucketOf(Number.POSITIVE_INFINITY)).toBe(bucketOf(24 * 60 * 60_000));
  expect(bucketOf(Number.POSITIVE_INFINITY)).toBeLessThan(500);
});
