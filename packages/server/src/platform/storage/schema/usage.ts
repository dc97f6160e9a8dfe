import type { UsageFailure, UsageOperation } from "@presage/contract";

/** An account's requests of one hour. A key that is always in use gets a few rows an hour. */
export interface UsageCountsTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** Empty: requests with a session. */
  key_id: string;
  operation: UsageOperation;
  /** Empty: they succeeded; otherwise why they failed. */
  outcome: UsageFailure | "";
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Of predictions that did not reach the upstream, prompt and completion together. */
  cached_tokens: number;
}

/** The tokens that upstreams processed in one hour, by the model's name. Those of unknown models are in the counts only. */
export interface UsageModelTokensTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** Empty: requests with a session. */
  key_id: string;
  operation: UsageOperation;
  model: string;
  prompt_tokens: number;
  completion_tokens: number;
  /** The part of the prompts that the upstream had in its own cache. */
  upstream_cached_tokens: number;
}

/** What latencies measure: all of a prediction, or Presage's own part without the upstream's. */
export type LatencyMeasure = "total" | "overhead";

/** Latencies of an account's predictions in one hour: how many fell into each bucket. */
export interface UsageLatenciesTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  measure: LatencyMeasure;
  bucket: number;
  count: number;
}
