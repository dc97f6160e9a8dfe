import { EvaluationError } from "../evaluation-error.ts";

export function needsModel(): EvaluationError {
  return new EvaluationError(
    "needs_model",
    "A judge needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL.",
  );
}
