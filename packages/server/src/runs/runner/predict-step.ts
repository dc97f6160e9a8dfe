import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError, UpstreamError } from "../../platform/errors.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import type { Answer } from "../../platform/storage/answer-columns.ts";
import type { PredictionsTable } from "../../platform/storage/schema/predictions.ts";
import { isRefusal } from "../../upstream/failures.ts";
import { retryAfterMs } from "../../upstream/retry.ts";
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

/**
 * A step fails for good after five tries of two calls each: a model that fails every third call fails ten in a row once in 59,000
 * times.
 */
const maxTries = 5;
const callsOfTry = 2;
const maxCalls = maxTries * callsOfTry;
const secondCallMs = 250;
const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
/** Until other responses have been read. */
const memoryPauseMs = 1_000;

/** What the steps of a run share. */
export interface StepsOfRun {
  pace: Pace;
  tries: RunTries;
  isStopping(): boolean;
  /** What the deployment has answered last: that it answers this again tells a step that always fails from an outage. */
  answered?: StepRequest;
}

/**
 * One step's prediction, or why there is none. Limits of the rate are waited for, other failures tried again, unless the upstream
 * refused what was asked. It fails for good only if the deployment answers others. Undefined: the run was paused before the step's
 * turn.
 */
export async function predictStep(
  predict: PredictStep,
  request: StepRequest,
  run: StepsOfRun,
  signal: AbortSignal,
): Promise<StepOutcome | undefined> {
  const { pace, tries: counted } = run;
  let calls = 0;
  let failure: StepFailure | undefined;
  let outages = pace.outages();
  let answers = pace.answers();
  for (;;) {
    const begunAtMs = await pace.take(signal);
    if (run.isStopping()) {
      pace.abandoned();
      return undefined;
    }
    const probe = pace.isAway() ? run.answered : undefined;
    try {
      const response = await predict(probe ?? request, signal);
      pace.succeeded(response.latencyMs);
      if (probe === undefined) {
        run.answered = { ...request, span: undefined };
        return { response };
      }
      if (failure !== undefined && calls >= maxCalls) return { failure };
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
      else pace.failed(error.message, begunAtMs, isTimeout);
      if (probe !== undefined) {
        countRetry(counted, error.category);
        continue;
      }
      failure = { category: error.category, message: error.message };
      if (isRefusal(error)) return { failure };
      // What failed because the deployment was away says nothing about this step.
      if (pace.outages() > outages) calls = 0;
      calls += 1;
      if (calls >= maxCalls) {
        if (pace.answers() > answers) return { failure };
        pace.doubt(error.message);
      }
      outages = pace.outages();
      answers = pace.answers();
      countRetry(counted, error.category);
      await sleep(pauseMsAfter(calls) * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

function pauseMsAfter(calls: number): number {
  if (calls % callsOfTry > 0) return secondCallMs;
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (calls / callsOfTry - 1));
}

export function countRetry({ retried }: RunTries, category: StepFailure["category"]): void {
  retried[category] = (retried[category] ?? 0) + 1;
}

/** The responses in progress leave no memory for this one. That says nothing about the deployment. */
function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "overloaded";
}
