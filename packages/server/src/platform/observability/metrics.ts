import { Gauge, Histogram, Registry } from "prom-client";
import { createCounter } from "./counter.ts";
import { addProcessMetrics } from "./process-metrics.ts";

const secondsFromSubMillisecond = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const secondsOfGeneration = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Keys are free, and each would be kept, and shown, until the process ends. */
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
    ...deletionMetrics(registry),
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
      help: "Predictions by where they are from (hit: kept; shared: of an equal request at the same time; miss: asked for; off: not cached).",
      labelNames: ["result"],
    }),
    captured: createCounter(registry, {
      name: "presage_captured_predictions_total",
      help: "Predictions that were to be kept, by what became of them (written, dropped: no memory for them, or refused by the store).",
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
      help: "When this process last found nothing left that is too old, in seconds since 1970-01-01 UTC; 0: never.",
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
