import type { PredictionFailure } from "@presage/contract";
import type { Micros } from "../micros.ts";

/** `live`: a client's request. */
export type PredictionSource = "live" | "run" | "episode";

/** Predictions that are kept: the columns that they are listed and counted by. */
export interface PredictionsTable {
  id: string;
  account_id: string;
  source: PredictionSource;
  created_at: Micros;
  /** The run's or the episode's; null if live. */
  run_id: string | null;
  /** Of the sample in the run's revision, or the episode's step. */
  position: number | null;
  repeat: number | null;
  status: "success" | "failed";
  error_category: PredictionFailure | null;
  deployment: string | null;
  /** As the upstream named it. */
  model: string | null;
  /** The name that was sent, by which prices are. Null: it has none, or no model was called. */
  sent_model: string | null;
  /** The address of the replica that answered, without user and query. */
  replica: string | null;
  finish_reason: string | null;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  latency_micros: Micros | null;
  /** These two are set if live. */
  api_key_id: string | null;
  request_id: string | null;
}

/** The columns of a prediction that are only shown. */
export interface PredictionPayloadsTable {
  prediction_id: string;
  /** The context's, if it is live. */
  context_digest: string | null;
  /** JSON: what was asked, beside the context. Null if it follows from the run's sample. */
  request: string | null;
  output: string | null;
  reasoning: string | null;
  error_message: string | null;
}

/** Contexts of live predictions, each once for an account. */
export interface PredictionContextsTable {
  account_id: string;
  digest: string;
  /** JSON. */
  context: string;
}
