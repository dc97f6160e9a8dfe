import type { ErrorCategory } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, UpstreamError } from "../../errors.ts";
import { EvaluationError, type EvaluationErrorCode } from "../evaluation-error.ts";
import { isContentFiltered } from "./stated-error.ts";

const failureOf: Record<ErrorCategory, [code: EvaluationErrorCode, message: string]> = {
  rate_limit: ["judge_rate_limited", "The judge's model limits the rate of requests."],
  timeout: ["timeout", "The judge's model did not answer in time."],
  unavailable: ["judge_unreachable", "The judge's model cannot be reached."],
  context_exceeded: ["judge_context_exceeded", "The texts do not fit into the context of the judge's model."],
  upstream: ["judge_error", "The judge's model failed the request"],
};

/** Why there is no verdict. The upstream's own words stay out of it: they may repeat the prompt. */
export function toEvaluationError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof EvaluationError) return error;
  const isLimited = error instanceof UpstreamError && error.category === "rate_limit";
  // Whoever was still waiting for a limit at the deadline failed because of it.
  if (signal.aborted && !isLimited) {
    if (signal.reason instanceof ClientDisconnectedError) return signal.reason;
    return new EvaluationError("timeout", failureOf.timeout[1], { cause: error });
  }
  if (error instanceof ServiceError && error.code === "overloaded") {
    return new EvaluationError("overloaded", "The server has no memory left for the judge's answer.", {
      cause: error,
    });
  }
  if (!(error instanceof UpstreamError)) return error;
  if (isContentFiltered(error)) return judgeRefused();
  const [code, message] = failureOf[error.category];
  const sentence = error.category === "upstream" ? `${message}${hintOf(error.status)}` : message;
  return new EvaluationError(code, sentence, { cause: error });
}

function hintOf(status: number | undefined): string {
  if (status === undefined) return ".";
  if (status === 401 || status === 403)
    return ` (HTTP ${status}): it refuses its key, PRESAGE_JUDGE_API_KEY.`;
  if (status === 404) return " (HTTP 404): see PRESAGE_JUDGE_URL and PRESAGE_JUDGE_MODEL.";
  return ` (HTTP ${status}).`;
}

export function judgeRefused(): EvaluationError {
  return new EvaluationError("judge_refused", "The judge's model refused to judge these texts.");
}
