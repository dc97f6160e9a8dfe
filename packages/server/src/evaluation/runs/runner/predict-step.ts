import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError, UpstreamError } from "../../../errors.ts";
import type { ChatParent } from "../../../observability/tracing.ts";
import type { PredictionsTable } from "../../../storage/schema/predictions.ts";
import type { Answer } from "../../../storage/writing/answer-columns.ts";
import { isRefusal } from "../../../upstream/classify-error.ts";
import { retryAfterMs } from "../../../upstream/retry-after-ms.ts";
import type { RunTries } from "../run.ts";
import type { Pace } from "./pace.ts";
import type { PromptTurn } from "./run-sample.ts";

/** One prediction that a run asks a deployment for. */
export interface StepRequest {
  accountId: string;
  /** The call is counted for it. */
  keyId: string | undefined;
  deployment: string;
  model: string | undefined;
  messages: readonly PromptTurn[];
  params: Readonly<Record<string, unknown>>;
  /** Steps of a trajectory go to the replica that has their prefix. */
  session: string;
  /** Whether the next step is told the answer, so that it must not have control tokens. */
  isFedBack: boolean;
  /** The call is traced below it. */
  span?: ChatParent | undefined;
  /** Called before the deployment is asked again because it could not be reached. */
  mayRetry(): boolean;
}

/** An answer; deployment and time are null if no model was called. */
export interface StepResponse extends Omit<Answer, "deployment"> {
  deployment: string | null;
  /** From the call to its response, without what the call waited for before. */
  latencyMs: number | null;
}

/** Asks a deployment, behind live requests. Throws an `UpstreamError`, or the signal's reason. */
export type PredictStep = (request: StepRequest, signal: AbortSignal) => Promise<StepResponse>;

export interface StepFailure {
  category: NonNullable<PredictionsTable["error_category"]>;
  message: string;
}

export type StepOutcome = { response: StepResponse } | { failure: StepFailure };

/** A model that fails every third call fails ten in a row once in 59,000 times. */
const maxTries = 10;
const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** Until other responses have been read. */
const memoryPauseMs = 1_000;

/**
 * One step's prediction, or why there is none. Limits of the rate are waited for, other failures tried again, unless the upstream
 * refused what was asked. Undefined: the run was paused before the step's turn.
 */
export async function predictStep(
  predict: PredictStep,
  request: StepRequest,
  { pace, tries: counted, isStopping }: { pace: Pace; tries: RunTries; isStopping(): boolean },
  signal: AbortSignal,
): Promise<StepOutcome | undefined> {
  let tries = 0;
  let outages = pace.outages();
  for (;;) {
    const begunAtMs = await pace.take(signal);
    if (isStopping()) {
      pace.abandoned();
      return undefined;
    }
    try {
      const response = await predict(request, signal);
      pace.succeeded(response.latencyMs);
      return { response };
    } catch (error) {
      if (!signal.aborted && isOverloaded(error)) {
        pace.limited(memoryPauseMs, "memory");
        continue;
      }
      if (signal.aborted || !(error instanceof UpstreamError)) {
        pace.abandoned();
        throw error;
      }
      if (error.category === "rate_limit") {
        countRetry(counted, error.category);
        pace.limited(retryAfterMs(error.retryAfter));
        continue;
      }
      const isTimeout = error.category === "timeout";
      if (isTimeout) counted.timed_out += 1;
      // The deployment has read what it was asked.
      if (error.category === "context_exceeded" || error.category === "unusable_completion")
        pace.succeeded(null);
      else pace.failed(error.message, isTimeout ? begunAtMs : undefined);
      const failure = { category: error.category, message: error.message };
      if (isRefusal(error)) return { failure };
      // What failed because the deployment was away says nothing about this step.
      if (pace.outages() > outages || pace.isAway()) {
        outages = pace.outages();
        tries = 0;
      }
      tries += 1;
      if (tries === maxTries) return { failure };
      countRetry(counted, error.category);
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

export function countRetry({ retried }: RunTries, category: StepFailure["category"]): void {
  retried[category] = (retried[category] ?? 0) + 1;
}

/** The responses in progress leave no memory for this one. That says nothing about the deployment. */
function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "overloaded";
}
