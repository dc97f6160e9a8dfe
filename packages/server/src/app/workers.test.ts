import { expect, test } from "bun:test";
import { readConfig } from "../config/config.ts";
import { createMetrics, watchProcesses, watchReplicas } from "../platform/observability/metrics.ts";
import { configOfWorker, createWorkerFigures, type Figures, shareOf } from "./workers.ts";

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

interface TestWorker {
  metrics: ReturnType<typeof createMetrics>;
  ask(): Promise<Figures | undefined>;
}

function createWorker(): TestWorker {
  const metrics = createMetrics();
  return { metrics, ask: async () => (await metrics.registry.getMetricsAsJSON()) as Figures };
}

/** The value of a series as written; undefined if there is no such series. */
function readSeries(text: string, series: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test("a worker that ends after its answer, before that of another, counts once, and its gauges go", async () => {
  const figures = createWorkerFigures<TestWorker>();
  const [ends, stays] = [createWorker(), createWorker()];
  ends.metrics.tokens(["prompt"], 10);
  stays.metrics.tokens(["prompt"], 5);
  watchProcesses(ends.metrics.registry, () => 7);
  const tokens = 'presage_tokens_total{kind="prompt"}';
  expect(readSeries(await figures.read([ends, stays]), tokens)).toBe(15);

  const late = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const [answerOfEnding, answerOfStaying] = [await ends.ask(), await stays.ask()];
  ends.ask = async () => {
    // Its end is noticed after its answer, as both come from the process in this order.
    setTimeout(answered.resolve);
    return answerOfEnding;
  };
  stays.ask = async () => {
    await late.promise;
    return answerOfStaying;
  };
  const reading = figures.read([ends, stays]);
  await answered.promise;
  figures.retire(ends);
  late.resolve();
  expect(readSeries(await reading, tokens)).toBe(15);
  const later = await figures.read([stays]);
  expect(readSeries(later, tokens)).toBe(15);
  expect(readSeries(later, "presage_processes")).toBeUndefined();
});

test("all workers see the same processes, so the largest number counts", async () => {
  const workers = [createWorker(), createWorker()];
  for (const [index, { metrics }] of workers.entries()) watchProcesses(metrics.registry, () => 2 + index);
  expect(readSeries(await createWorkerFigures<TestWorker>().read(workers), "presage_processes")).toBe(3);
});

test("the counts of a replica remain when a worker ends, its gauges do not", async () => {
  const figures = createWorkerFigures<TestWorker>();
  const workers = [createWorker(), createWorker()] as const;
  for (const { metrics } of workers)
    watchReplicas(metrics.registry, () => [
      {
        deployment: "wm",
        replica: "http://a/v1",
        presage_replica_in_flight: 4,
        presage_replica_up: 1,
        presage_replica_ejections_total: 1,
        presage_replica_requests_total: 10,
        presage_replica_prefix_requests_total: 8,
        presage_replica_latency_seconds: undefined,
      },
    ]);
  const replica = (text: string, name: string) =>
    readSeries(text, `presage_replica_${name}{deployment="wm",replica="http://a/v1"}`);
  const counts = (text: string) =>
    ["ejections_total", "requests_total", "prefix_requests_total"].map((name) => replica(text, name));

  const before = await figures.read(workers);
  expect([...counts(before), replica(before, "in_flight")]).toEqual([2, 20, 16, 8]);
  figures.retire(workers[0]);
  const after = await figures.read([workers[1]]);
  expect([...counts(after), replica(after, "in_flight"), replica(after, "up")]).toEqual([2, 20, 16, 4, 1]);
  expect(after).toContain("# TYPE presage_replica_requests_total counter");
});

test("what a worker sends before it ends counts, though nobody asked for it", async () => {
  const figures = createWorkerFigures<TestWorker>();
  const [ends, stays] = [createWorker(), createWorker()];
  ends.metrics.tokens(["prompt"], 10);
  figures.keep(ends, (await ends.ask()) ?? []);
  figures.retire(ends);
  expect(readSeries(await figures.read([stays]), 'presage_tokens_total{kind="prompt"}')).toBe(10);
});
