import { Counter, Gauge, Histogram, Registry } from "prom-client";

const secondsFromSubMillisecond = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const secondsOfGeneration = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Keys are free to create, and each would be kept and shown until the process ends. */
const maxKeysApart = 1_000;

/** Names and units follow Prometheus' conventions. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  addProcessMetrics(registry);
  return {
    registry,
    ...requestMetrics(registry),
    ...predictionMetrics(registry),
    ...worldMetrics(registry),
    ...deletionMetrics(registry),
  };
}

function worldMetrics(registry: Registry) {
  return {
    worldPredictions: createCounter(registry, {
      name: "presage_world_predictions_total",
      help: "Predictions through worlds, by world and deployment (retrieval: the records alone; other: of worlds beyond the first).",
      labelNames: ["world", "answered_by"],
      maxSeries: maxKeysApart,
    }),
    worldAbstentions: createCounter(registry, {
      name: "presage_world_abstentions_total",
      help: "Predictions through worlds that abstained, as they were less sure than their world needs.",
      labelNames: [],
    }),
    worldEscalations: createCounter(registry, {
      name: "presage_world_escalations_total",
      help: "Predictions through worlds that another deployment answered, as the first was less sure than the world needs.",
      labelNames: [],
    }),
    retrievalSeconds: new Histogram({
      name: "presage_retrieval_seconds",
      help: "Duration of one search for examples.",
      buckets: secondsFromSubMillisecond,
      registers: [registry],
    }),
  };
}

function requestMetrics(registry: Registry) {
  return {
    requests: createCounter(registry, {
      name: "presage_http_requests_total",
      help: "HTTP requests, by route and status.",
      labelNames: ["route", "status"],
    }),
    failures: createCounter(registry, {
      name: "presage_failures_total",
      help: "Failed requests by category (context_exceeded, rate_limit, upstream, unusable_completion, unavailable, timeout).",
      labelNames: ["category"],
    }),
    oldNames: createCounter(registry, {
      name: "presage_deprecated_requests_total",
      help: "Requests with deprecated field names, by API key id (other: of keys beyond the first 1,000).",
      labelNames: ["key_id"],
      maxSeries: maxKeysApart,
    }),
    keyVerifications: createCounter(registry, {
      name: "presage_key_verifications_total",
      help: "API key checks by outcome (cached, looked_up, refused, unavailable).",
      labelNames: ["outcome"],
    }),
    rateChecks: createCounter(registry, {
      name: "presage_rate_checks_total",
      help: "Requests checked against rates in Redis, by who decided (shared: Redis for all processes; own: this process by its share, as Redis did not answer).",
      labelNames: ["decided_by"],
    }),
    openEnvMessages: createCounter(registry, {
      name: "presage_openenv_messages_total",
      help: "Messages of OpenEnv's clients, by type (reset, step, state, close, other) and outcome (ok, disconnected, or the code of the error).",
      labelNames: ["type", "outcome"],
    }),
  };
}

function predictionMetrics(registry: Registry) {
  const registers = [registry];
  return {
    upstreamSeconds: new Histogram({
      name: "presage_upstream_duration_seconds",
      help: "Time that predictions waited for the upstream, including retries.",
      buckets: secondsOfGeneration,
      registers,
    }),
    overheadSeconds: new Histogram({
      name: "presage_overhead_seconds",
      help: "Presage's own part of a prediction's time: the total minus the upstream's.",
      buckets: secondsFromSubMillisecond,
      registers,
    }),
    tokens: createCounter(registry, {
      name: "presage_tokens_total",
      help: "Tokens that the upstream reported, by kind (prompt or completion); cached: both, of predictions that it was not asked for.",
      labelNames: ["kind"],
    }),
    cacheResults: createCounter(registry, {
      name: "presage_cache_results_total",
      help: "Predictions by where they came from (hit: the cache; shared: an equal request in flight; miss: the upstream; off: not cacheable).",
      labelNames: ["result"],
    }),
    captured: createCounter(registry, {
      name: "presage_captured_predictions_total",
      help: "Predictions to be stored, by outcome (written; dropped: no memory for them, or refused by the store).",
      labelNames: ["outcome"],
    }),
    upstreamUnreachable: createCounter(registry, {
      name: "presage_upstream_unreachable_total",
      help: "Calls that did not reach the upstream, by upstream (predictions, judges) and reason (refused, reset, name, certificate, tls, network, other).",
      labelNames: ["upstream", "reason"],
    }),
  };
}

function deletionMetrics(registry: Registry) {
  const registers = [registry];
  return {
    deletedRows: createCounter(registry, {
      name: "presage_deleted_rows_total",
      help: "Rows that were deleted because of their age or by a filter, by kind (results, predictions, episodes, usage, audit).",
      labelNames: ["kind"],
    }),
    deletionSeconds: new Histogram({
      name: "presage_deletion_transaction_seconds",
      help: "Duration of one transaction of these deletions. On SQLite, other writes wait for it.",
      buckets: secondsFromSubMillisecond,
      registers,
    }),
    deletionsComplete: new Gauge({
      name: "presage_retention_complete_timestamp_seconds",
      help: "When this process last found nothing left that is too old, in seconds since 1970-01-01 UTC; its start, until it has looked.",
      aggregator: "max",
      registers,
    }),
    retentionWaits: new Gauge({
      name: "presage_retention_waits",
      help: "1 while nothing is deleted by age, as the clock is days past the last time that a server ran; otherwise 0.",
      aggregator: "max",
      registers,
    }),
  };
}

/** Adds one, or more, to the series with these label values, in the order of the label names. */
type Increment = (labelValues: readonly string[], amount?: number) => void;

const others = "other";

interface CounterOptions {
  name: string;
  help: string;
  labelNames: readonly string[];
  /** Limits labels whose values callers can invent, as each is kept until the process ends: further ones count as `other`. */
  maxSeries?: number;
}

/**
 * A counter that passes its values to prom-client only when the metrics are read. prom-client's own `inc` validates and hashes
 * the labels each time; with five counters a prediction, that was 4 % of its processor time.
 */
export function createCounter(
  registry: Registry,
  { name, help, labelNames, maxSeries = Number.POSITIVE_INFINITY }: CounterOptions,
): Increment {
  const series = new Map<string, { labels: Record<string, string>; value: number }>();
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of series.values()) this.inc(labels, value);
    },
  });
  const othersValues = labelNames.map(() => others);

  /** Every request passes through here several times, nearly always with known values. */
  function increment(labelValues: readonly string[], amount = 1): void {
    const key = labelValues.join("\n");
    const known = series.get(key);
    if (known !== undefined) known.value += amount;
    else if (series.size < maxSeries || labelValues === othersValues) add(key, labelValues, amount);
    else increment(othersValues, amount);
  }

  function add(key: string, values: readonly string[], amount: number): void {
    const labels = Object.fromEntries(labelNames.map((labelName, place) => [labelName, values[place] ?? ""]));
    series.set(key, { labels, value: amount });
  }

  return increment;
}

/** The metrics that Prometheus clients report for every process. */
function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  watchFigure(registry, () => process.memoryUsage.rss(), {
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process in bytes.",
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the process, user and system, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const startedAtSeconds = performance.timeOrigin / 1000;
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start of the process, in seconds since 1970-01-01 UTC.",
    aggregator: "min",
    registers,
  }).set(startedAtSeconds);
}

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
    "Memory of cached predictions and of digests of their request bodies (at most PRESAGE_CACHE_MAX_BYTES).",
  presage_index_bytes: "Memory that the searchable examples of worlds take.",
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

/** Each process has its own state and average, so several processes are shown by their mean. All other figures are added up. */
const averaged: readonly string[] = ["presage_replica_up", "presage_replica_latency_seconds"];

/** The figures of one replica, by metric. */
export type ReplicaFigures = { deployment: string; replica: string } & Record<
  keyof typeof watchedReplicas,
  number | undefined
>;

export function watchProcesses(registry: Registry, count: () => number): void {
  watchFigure(registry, count, {
    name: "presage_processes",
    help: "Processes that share the limits in Redis, seen in the last minute. Absent without Redis.",
    // All workers see the same processes.
    aggregator: "max",
  });
}

const watchedStores = {
  presage_database_up: "1 if the database answers, otherwise 0.",
  presage_redis_up:
    "1 if Redis (PRESAGE_REDIS_URL) is connected and answers in time, otherwise 0. Absent without one.",
};

export function watchUp(registry: Registry, name: keyof typeof watchedStores, isUp: () => boolean): void {
  watchFigure(registry, () => Number(isUp()), { name, help: watchedStores[name], aggregator: "min" });
}

/** Reads the figures of all replicas whenever the metrics are read. */
export function watchReplicas(registry: Registry, read: () => ReplicaFigures[]): void {
  for (const name of Object.keys(watchedReplicas) as (keyof typeof watchedReplicas)[]) {
    // Unlike gauges, counters of a worker that has ended remain.
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

/** Reads how much of each budget is used, whenever the metrics are read. */
export function watchBudgets(
  registry: Registry,
  read: () => { accountId: string; keyId: string; ratio: number }[],
): void {
  new Gauge({
    name: "presage_budget_used_ratio",
    help: "What is spent of a monthly budget, divided by it; key is empty for an account's. Absent without a price list.",
    labelNames: ["account", "key"],
    aggregator: "max",
    registers: [registry],
    collect() {
      this.reset();
      for (const { accountId, keyId, ratio } of read().slice(0, maxKeysApart))
        this.set({ account: accountId, key: keyId }, ratio);
    },
  });
}

/** Reads how often successes are false in environments with a limit. */
export function watchFalseSuccess(
  registry: Registry,
  read: () => Promise<{ accountId: string; environment: string; ratio: number | null; isAlarm: boolean }[]>,
): void {
  const labelNames = ["account", "environment"];
  const shared = { labelNames, aggregator: "max" as const, registers: [registry] };
  new Gauge({
    name: "presage_reality_false_success_ratio",
    help: "Of checked episodes that succeeded in simulation, the share that fails in reality, where the environment has a limit.",
    ...shared,
    async collect() {
      const all = await read();
      this.reset();
      for (const { accountId: account, environment, ratio } of all)
        if (ratio !== null) this.set({ account, environment }, ratio);
    },
  });
  new Gauge({
    name: "presage_reality_alarm",
    help: "1 while that share, of all episodes or of a policy's, is shown to be above the environment's limit, otherwise 0.",
    ...shared,
    async collect() {
      const all = await read();
      this.reset();
      for (const { accountId: account, environment, isAlarm } of all)
        this.set({ account, environment }, Number(isAlarm));
    },
  });
}

export function watchCounts(registry: Registry, counts: Record<keyof typeof watched, () => number>): void {
  for (const name of Object.keys(watched) as (keyof typeof watched)[])
    watchFigure(registry, counts[name], { name, help: watched[name] });
}

/** A figure that is read whenever the metrics are read. */
function watchFigure(
  registry: Registry,
  read: () => number,
  options: { name: string; help: string; aggregator?: "max" | "min" },
): void {
  new Gauge({
    ...options,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
