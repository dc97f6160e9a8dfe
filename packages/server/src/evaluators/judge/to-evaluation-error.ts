import type { ErrorCategory } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, UpstreamError } from "../../platform/errors.ts";
import { EvaluationError, type EvaluationErrorCode } from "../evaluation-error.ts";
import { isContentFiltered } from "./stated-error.ts";

const errorOf: Record<ErrorCategory, [code: EvaluationErrorCode, message: string]> = {
  rate_limit: ["judge_rate_limited", "The judge's model limits the rate of requests."],
  timeout: ["timeout", "The judge's model did not respond in time."],
  unavailable: ["judge_unreachable", "The judge's model cannot be reached."],
  context_exceeded: ["judge_context_exceeded", "The texts do not fit in the context of the judge's model."],
  upstream: ["judge_error", "The judge's model failed the request"],
  unusable_completion: ["judge_invalid_verdict", "The judge's answer cannot be used."],
};

/** The error of an evaluation without a verdict. It leaves out the upstream's own words, which may echo the prompt. */
export function toEvaluationError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof EvaluationError) return error;
  const isLimited = error instanceof UpstreamError && error.category === "rate_limit";
  // If the call was still waiting for a rate limit at the deadline, the limit is the reason.
  if (signal.aborted && !isLimited) {
    if (signal.reason instanceof ClientDisconnectedError) return signal.reason;
    return new EvaluationError("timeout", errorOf.timeout[1], { cause: error });
  }
  if (error instanceof ServiceError && error.code === "overloaded") {
    return new EvaluationError(
      "overloaded",
      "The server has no memory left for the response of the judge's model.",
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof UpstreamError)) return error;
  if (isContentFiltered(error)) return judgeRefused();
  const [code, message] = errorOf[error.category];
  const sentence = error.category === "upstream" ? `${message}${hintOf(error.status)}` : message;
  return new EvaluationError(code, sentence, { cause: error });
}

function hintOf(status: number | undefined): string {
  if (status === undefined) return ".";
  if (status === 401 || status === 403)
    return ` (HTTP ${status}): it rejects the key in PRESAGE_JUDGE_API_KEY.`;
  if (status === 404) return " (HTTP 404): see PRESAGE_JUDGE_URL and PRESAGE_JUDGE_MODEL.";
  return ` (HTTP ${status}).`;
}

export function judgeRefused(): EvaluationError {
  return new EvaluationError("judge_refused", "The judge's model refused to judge these texts.");
}
