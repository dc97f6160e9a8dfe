import type { EvaluatorOutcome } from "./evaluator-outcome.ts";

/** Why an evaluation failed, machine-readable. */
export type EvaluationErrorCode =
  | "timeout"
  | "overloaded"
  | "internal_error"
  | "needs_model"
  | "judge_unreachable"
  | "judge_rate_limited"
  | "judge_refused"
  | "judge_truncated"
  | "judge_invalid_verdict"
  | "contradictory_verdict"
  | "judge_context_exceeded"
  | "judge_error"
  | "no_such_taxonomy"
  | "invalid_profile";

/** An evaluation without a verdict. It never counts as a fail. */
export class EvaluationError extends Error {
  readonly code: EvaluationErrorCode;

  constructor(code: EvaluationErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EvaluationError";
    this.code = code;
  }
}

/** A sample that has what the family needs, but not in a form that it can use; for example a gold answer that is not JSON. */
export class UnusableSampleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnusableSampleError";
  }
}

/** A sample that is left out of the measure, whatever the output is, so that the same samples count for every model. */
export class NotApplicableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotApplicableError";
  }
}

/** An error that no evaluator throws on purpose. The cause is for the log: it may quote the sample, so the message leaves it out. */
export function internalError(cause: unknown): EvaluationError {
  return new EvaluationError("internal_error", "Internal error in the evaluator.", { cause });
}

export function needsModel(): EvaluationError {
  return new EvaluationError(
    "needs_model",
    "A judge needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL.",
  );
}

/** The outcome of an evaluation that ended with `error`; undefined if no evaluator throws it on purpose. */
export function outcomeOfError(error: unknown): EvaluatorOutcome | undefined {
  if (error instanceof UnusableSampleError) return unusable("unusable_input", error.message);
  if (error instanceof NotApplicableError)
    return { status: "not_applicable", errorMessage: `not_applicable: ${error.message}` };
  if (!(error instanceof EvaluationError)) return undefined;
  const status = error.code === "contradictory_verdict" ? "contradictory" : "failed";
  return { status, errorMessage: `${error.code}: ${error.message}` };
}

export function unusable(code: "missing_input" | "unusable_input", message: string): EvaluatorOutcome {
  return { status: "validation_error", errorMessage: `${code}: ${message}` };
}
