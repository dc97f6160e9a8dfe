import { EvaluationFailure } from "./family.ts";

export function needsModel(): EvaluationFailure {
  return new EvaluationFailure(
    "needs_model",
    "A judge needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL.",
  );
}
