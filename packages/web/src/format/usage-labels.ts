import type { UsageFailure, UsageOperation } from "@presage/sdk";

/** Why a request failed, in a few words. */
export const failureLabels: Record<UsageFailure, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "No usable answer from the model",
  unavailable: "Model or server not available",
  timeout: "Took too long",
  invalid: "Refused as invalid",
  other: "Caller gone, or a issue here",
};

/** What a request was for. */
export const operationLabels: Record<UsageOperation, string> = {
  predict: "Predictions",
  chat: "Chat completions",
  evaluate: "Evaluations",
};
