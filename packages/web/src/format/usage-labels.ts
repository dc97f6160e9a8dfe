import type { UsageFailure, UsageOperation } from "@presage/sdk";

/** Why a request failed, in a few words. */
export const failureNames: Record<UsageFailure, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "No usable answer from the model",
  unavailable: "Model or server not available",
  timeout: "Took too long",
  invalid: "Refused as invalid",
  other: "Caller gone, or a fault here",
};

/** What a request was for. */
export const operationNames: Record<UsageOperation, string> = {
  predict: "Predictions",
  chat: "Chat completions",
  evaluate: "Evaluations",
};
