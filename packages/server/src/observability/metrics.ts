import { Gauge, Histogram, Registry } from "prom-client";
import { createTally } from "./counter.ts";

const secondsFromSubMillisecond = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const secondsOfGeneration = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

const watched = {
  presage_predictions_in_flight: "Predictions under way.",
  presage_evaluations_in_flight: "Evaluation requests under way.",
  presage_judge_calls_in_flight: "Calls to the judge's model under way.",
  presage_judge_calls_waiting: "Calls to the judge's model that wait for their turn.",
  presage_memory_held_bytes:
    "Memory held by bodies under way, answers being written and results that wait, as it is estimated.",
  presage_memory_budget_bytes: "The most of it; past it requests get 503.",
} as const;

/** Everything that is measured, by what it measures. Names and units follow Prometheus' conventions. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  addProcessMetrics(registry);
  return {
    registry,
    requests: createTally(registry, {
      name: "presage_http_requests_total",
      help: "Requests answered, by route and status.",
      labelNames: ["route", "status"],
    }),
    upstreamSeconds: new Histogram({
      name: "presage_upstream_duration_seconds",
      help: "Time that a prediction waited for the upstream, retries included.",
      buckets: secondsOfGeneration,
      registers,
    }),
    overheadSeconds: new Histogram({
      name: "presage_overhead_seconds",
      help: "Presage's own share of a prediction: its total time minus the upstream's.",
      buckets: secondsFromSubMillisecond,
      registers,
    }),
    tokens: createTally(registry, {
      name: "presage_tokens_total",
      help: "Tokens that the upstream reported, by kind (prompt or completion).",
      labelNames: ["kind"],
    }),
    failures: createTally(registry, {
      name: "presage_failures_total",
      help: "Requests whose error has a category (context_exceeded, rate_limit, upstream, unavailable, timeout), by it.",
      labelNames: ["category"],
    }),
    upstreamUnreachable: createTally(registry, {
      name: "presage_upstream_unreachable_total",
      help: "Calls that the upstream could not be reached for, by upstream (predictions, judges) and reason (refused, reset, name, certificate, tls, network, other).",
      labelNames: ["upstream", "reason"],
    }),
    oldNames: createTally(registry, {
      name: "presage_deprecated_requests_total",
      help: "Requests that use field names which others have replaced, by the id of their API key.",
      labelNames: ["key_id"],
    }),
    keyVerifications: createTally(registry, {
      name: "presage_key_verifications_total",
      help: "API keys checked, by outcome: cached (a cache hit), looked_up, refused, unavailable.",
      labelNames: ["outcome"],
    }),
    /** Reads these numbers whenever the metrics are asked for. */
    watch(counts: Record<keyof typeof watched, () => number>) {
      for (const name of Object.keys(watched) as (keyof typeof watched)[]) {
        new Gauge({
          name,
          help: watched[name],
          registers,
          collect() {
            this.set(counts[name]());
          },
        });
      }
    },
  };
}

function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_cpu_seconds_total",
    help: "Processor time of the process, user and system.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
  const startedAtSeconds = performance.timeOrigin / 1000;
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process started, Unix time.",
    registers,
  }).set(startedAtSeconds);
}
