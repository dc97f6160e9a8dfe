import { Counter, Gauge, type Registry } from "prom-client";

const watched = {
  presage_predictions_in_flight: "Predictions in flight.",
  presage_evaluations_in_flight: "Evaluation requests in flight.",
  presage_openenv_sockets: "Open WebSockets of OpenEnv's clients.",
  presage_judge_calls_in_flight: "Judge calls in flight.",
  presage_judge_calls_waiting: "Judge calls that wait for their turn.",
  presage_memory_held_bytes:
    "Estimated memory of request bodies, of responses being written and of results waiting to be stored.",
  presage_memory_budget_bytes: "Limit of presage_memory_held_bytes; beyond it requests get 503.",
  presage_capture_held_bytes:
    "Memory of captured predictions that wait for their response or to be stored; part of presage_memory_held_bytes.",
  presage_cache_bytes:
    "Memory of predictions that are kept and of what recognises bodies (at most PRESAGE_CACHE_MAX_BYTES).",
} as const;

const watchedReplicas = {
  presage_replica_in_flight: "Requests that a replica has not answered yet.",
  presage_replica_up: "1 if the replica is asked like any other, 0 if it is ejected or returning.",
  presage_replica_ejections_total: "How often the replica was ejected.",
  presage_replica_requests_total: "Requests that the replica was sent.",
  presage_replica_prefix_requests_total:
    "Those of presage_replica_requests_total that came to the replica because of their trajectory.",
  presage_replica_latency_seconds:
    "Moving average of the replica's latency; a time-out counts with the time waited. Absent before its first response.",
} as const;

/** Each process has a state and an average of its own; of several processes the mean is shown. Everything else is added up. */
const averaged: readonly string[] = ["presage_replica_up", "presage_replica_latency_seconds"];

/** The figures of one replica, by metric. */
export type ReplicaFigures = { deployment: string; replica: string } & Record<
  keyof typeof watchedReplicas,
  number | undefined
>;

/** Reads how many processes share Redis whenever the metrics are read. */
export function watchProcesses(registry: Registry, count: () => number): void {
  new Gauge({
    name: "presage_processes",
    help: "Processes that share the limits in Redis, seen in the last minute. Absent without Redis.",
    // All workers see the same processes.
    aggregator: "max",
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}

/** Reads whether Redis answers whenever the metrics are read. */
export function watchRedis(registry: Registry, isUp: () => boolean): void {
  new Gauge({
    name: "presage_redis_up",
    help: "1 if Redis (PRESAGE_REDIS_URL) is connected and answers in time, otherwise 0. Absent without one.",
    aggregator: "min",
    registers: [registry],
    collect() {
      this.set(isUp() ? 1 : 0);
    },
  });
}

/** Reads the figures of all replicas whenever the metrics are read. */
export function watchReplicas(registry: Registry, read: () => ReplicaFigures[]): void {
  for (const name of Object.keys(watchedReplicas) as (keyof typeof watchedReplicas)[]) {
    // Counts of a worker that has ended remain, unlike gauges.
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    new Metric({
      name,
      help: watchedReplicas[name],
      labelNames: ["deployment", "replica"],
      aggregator: averaged.includes(name) ? "average" : "sum",
      registers: [registry],
      collect() {
        // A deployment may have been removed.
        this.reset();
        for (const { deployment, replica, ...figures } of read()) {
          const value = figures[name];
          if (value !== undefined) this.inc({ deployment, replica }, value);
        }
      },
    });
  }
}

/** Reads these numbers whenever the metrics are read. */
export function watchCounts(registry: Registry, counts: Record<keyof typeof watched, () => number>): void {
  for (const name of Object.keys(watched) as (keyof typeof watched)[]) {
    new Gauge({
      name,
      help: watched[name],
      registers: [registry],
      collect() {
        this.set(counts[name]());
      },
    });
  }
}
