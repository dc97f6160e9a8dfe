import { EvaluationError, type EvaluationErrorCode, UnusableSampleError } from "../evaluators/family.ts";
import type { TimedVerdict } from "./evaluate-by-rule.ts";

/** How an evaluation by rule ended, as data: an error would lose its class on the way out of a thread. */
export type RuleOutcome =
  | { kind: "verdict"; verdict: TimedVerdict }
  | { kind: "unusable"; message: string }
  | { kind: "failure"; code: EvaluationErrorCode; message: string }
  | { kind: "crash"; trace: string };

export function settleRule(evaluate: () => TimedVerdict): RuleOutcome {
  try {
    return { kind: "verdict", verdict: evaluate() };
  } catch (error) {
    if (error instanceof UnusableSampleError) return { kind: "unusable", message: error.message };
    if (error instanceof EvaluationError) {
      return { kind: "failure", code: error.code, message: error.message };
    }
    return { kind: "crash", trace: traceOf(error) };
  }
}

export function verdictOf(outcome: RuleOutcome): TimedVerdict {
  switch (outcome.kind) {
    case "verdict":
      return outcome.verdict;
    case "unusable":
      throw new UnusableSampleError(outcome.message);
    case "failure":
      throw new EvaluationError(outcome.code, outcome.message);
    case "crash":
      throw crashed(outcome.trace);
  }
}

/** The cause is for us; what it says may come from the sample, so that it is no part of the message. */
export function crashed(cause: unknown): EvaluationError {
  return new EvaluationError("internal_error", "Internal error in the evaluator.", { cause });
}

/** Where it happened. Messages of errors quote what they stumbled over, and samples have no place in a log. */
function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return [error.name, ...frames].join("\n");
}
