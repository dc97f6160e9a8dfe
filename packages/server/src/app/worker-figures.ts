import { AggregatorRegistry, Gauge, Registry } from "prom-client";
import { createCounter } from "../platform/observability/metrics.ts";
import type { Figures } from "./messages.ts";
import type { WorkerProcess } from "./start-worker.ts";

type Worker = Pick<WorkerProcess, "ask">;

/** The metrics of all workers together. */
export interface WorkerFigures<Of extends Worker = Worker> {
  /** In Prometheus' text format. A worker that does not answer in time counts as it last did. */
  read(workers: readonly Of[]): Promise<string>;
  /** Keeps the counts of a worker that has ended, as far as they were read. */
  retire(worker: Of): void;
  countRestart(): void;
}

export function createWorkerFigures<Of extends Worker>(): WorkerFigures<Of> {
  const latest = new Map<Of, Figures>();
  let retired: Figures = [];
  let running = 0;
  const own = new Registry();
  const countRestart = createCounter(own, {
    name: "presage_worker_restarts_total",
    help: "Workers that ended and were replaced.",
    labelNames: [],
  });
  new Gauge({
    name: "presage_workers",
    help: "Worker processes that answered.",
    registers: [own],
    collect() {
      this.set(running);
    },
  });

  return {
    async read(workers) {
      const answered = await Promise.all(
        workers.map(async (worker) => {
          const figures = await worker.ask({ kind: "figures" });
          // At once, as the worker may be retired before the others have answered.
          if (figures !== undefined) latest.set(worker, figures);
          return figures !== undefined;
        }),
      );
      running = answered.filter(Boolean).length;
      return await sum([...latest.values(), retired, await own.getMetricsAsJSON()]).metrics();
    },
    retire(worker) {
      const figures = latest.get(worker) ?? [];
      latest.delete(worker);
      // Without these the sums would fall. Prometheus takes that for a restart of the whole server, and counts everything once more.
      const counts = figures.filter(({ type }) => ["counter", "histogram"].includes(String(type)));
      if (counts.length > 0) retired = sum([retired, counts]).getMetricsAsArray() as Figures;
    },
    countRestart: () => countRestart([]),
  };
}

/** As the metrics of one process. Each metric says how (`aggregator`); most are added up. */
function sum(all: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
