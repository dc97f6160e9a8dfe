import type { UsageFailure, UsageOperation } from "@presage/sdk";

export const failureLabels: Record<UsageFailure, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "No usable response from the model",
  unusable_completion: "No usable text from the model",
  unavailable: "Model or server unavailable",
  timeout: "Timeout",
  invalid: "Invalid request",
  other: "Client disconnected or server error",
};

export const operationLabels: Record<UsageOperation, string> = {
  predict: "Requests for predictions",
  chat: "Chat completions",
  evaluate: "Evaluations",
  judge: "Calls to judges",
  run: "Predictions of runs",
};
