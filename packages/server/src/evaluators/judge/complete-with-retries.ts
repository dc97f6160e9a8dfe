import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../../platform/errors.ts";
import type { FairSlots } from "../../platform/limits/fair-slots.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import { retryAfterMs } from "../../upstream/retry.ts";
import { traceCompletion } from "../../upstream/completion.ts";
import type { CompletionRequest, Upstream, UpstreamCompletion } from "../../upstream/upstream.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { type ModelUse, useOfCompletion, useOfFailure } from "./model-use.ts";

const retries = 5;
const minPauseMs = 250;
/** A longer pause is not waited for. */
const maxPauseMs = 60_000;

/** The model, and the limit on concurrent calls to it. */
export interface JudgeModel {
  complete: Upstream["complete"];
  slots: FairSlots;
  /** Called after each call to the model, to count the account's usage. */
  recordCall?: ((use: ModelUse) => void) | undefined;
}

/** On whose behalf a judge calls its model, and for how long. */
export interface JudgeCall {
  accountId: string;
  profilePublicId: string;
  /** Of the client's request; undefined if it was made with a session. */
  keyId?: string | undefined;
  /** Aborted at the evaluation's deadline, and when the client disconnects. */
  signal: AbortSignal;
  /** Says whether the whole request may call a model again after a failure, and counts it. */
  mayRetry(): boolean;
  /** The call is traced below it. */
  span?: ChatParent | undefined;
}

/** Completes in the account's turn. Where the rate is limited, it waits as long as the upstream says and tries again. */
export async function completeWithRetries(
  { complete, slots, recordCall }: JudgeModel,
  request: CompletionRequest,
  { accountId, keyId, signal, mayRetry, span }: Omit<JudgeCall, "profilePublicId">,
): Promise<UpstreamCompletion> {
  let limited: UpstreamError | undefined;
  // A pause occupies no slot, so that others can use it meanwhile.
  const attempt = async () => {
    const release = await slots.take(accountId, signal).catch(() => {
      // The deadline passed, or the client disconnected, before the call had its turn.
      throw (
        limited ??
        new EvaluationError(
          "overloaded",
          "Too many evaluations are waiting for the judge's model. Try again later, or raise PRESAGE_JUDGE_MAX_IN_FLIGHT.",
        )
      );
    });
    limited = undefined;
    try {
      const options = { mayRetry, purpose: "judges" as const };
      const completion = await traceCompletion(complete, span, request, signal, options);
      recordCall?.(useOfCompletion({ accountId, keyId }, completion));
      return completion;
    } catch (error) {
      recordCall?.(useOfFailure({ accountId, keyId }, error, signal));
      throw error;
    } finally {
      release();
    }
  };
  try {
    return await pRetry(attempt, {
      retries,
      signal,
      minTimeout: minPauseMs,
      randomize: true,
      async shouldRetry({ error }) {
        if (!(error instanceof UpstreamError) || error.category !== "rate_limit") return false;
        const pauseMs = retryAfterMs(error.retryAfter);
        if (pauseMs > maxPauseMs || !mayRetry()) return false;
        limited = error;
        await sleep(pauseMs, undefined, { signal });
        return true;
      },
    });
  } catch (error) {
    throw limited ?? error;
  }
}
