import { expect, test } from "bun:test";
import { readConfig } from "../config/config.ts";
import { configOfWorker, shareOf } from "./workers.ts";

test("the shares of all workers add up to the limit, and none is 0", () => {
  const shares = (limit: number, count: number) =>
    Array.from({ length: count }, (_, index) => shareOf(limit, { count, index }));
  expect(shares(10_000, 3)).toEqual([3_334, 3_333, 3_333]);
  expect(shares(7, 1)).toEqual([7]);
  expect(shares(1, 2)).toEqual([1, 1]);
});

test("a worker's limits are its shares", () => {
  const config = readConfig({
    PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT: "50",
    PRESAGE_MEMORY_BUDGET_BYTES: "3000000",
  });
  const worker = configOfWorker({ ...config, workers: { count: 2, index: 0 } }, 1);
  expect([worker.prediction.maxInFlight, worker.judge.maxInFlight]).toEqual([5_000, 128]);
  expect(worker.evaluation).toMatchObject({ maxInFlight: 5_000, maxInFlightEach: 25 });
  expect(worker.cache.maxBytes).toBe(128 * 1024 * 1024);
  expect([worker.memoryBudgetBytes, worker.workers]).toEqual([1_500_000, { count: 2, index: 1 }]);
});
