import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../../errors.ts";
import type { FairSlots } from "../../limits/fair-slots.ts";
import { askedPauseMs } from "../../upstream/retry-after-ms.ts";
import type { CompletionRequest, Upstream, UpstreamCompletion } from "../../upstream/upstream.ts";
import { EvaluationError } from "../evaluation-error.ts";
import type { JudgeCall } from "./judge-call.ts";

const retries = 5;
const firstPauseMs = 250;
/** Whoever asks for more than this is not waited for. */
const longestPauseMs = 60_000;

/** The model, and the calls to it that may be under way at once. */
export interface JudgeModel {
  complete: Upstream["complete"];
  slots: FairSlots;
}

/** Asks in the account's turn, and where the rate is limited waits as long as it is asked to and asks again. */
export async function askPatiently(
  { complete, slots }: JudgeModel,
  request: CompletionRequest,
  { accountId, signal, mayRetry }: Pick<JudgeCall, "accountId" | "signal" | "mayRetry">,
): Promise<UpstreamCompletion> {
  let limited: UpstreamError | undefined;
  // A pause takes up no slot, in which others ask meanwhile.
  const ask = async () => {
    const release = await slots.take(accountId, signal).catch(() => {
      throw limited ?? neverAsked();
    });
    limited = undefined;
    try {
      return await complete(request, signal, mayRetry);
    } finally {
      release();
    }
  };
  try {
    return await pRetry(ask, {
      retries,
      signal,
      minTimeout: firstPauseMs,
      randomize: true,
      async shouldRetry({ error }) {
        if (!(error instanceof UpstreamError) || error.category !== "rate_limit") return false;
        const pauseMs = askedPauseMs(error.retryAfter);
        if (pauseMs > longestPauseMs || !mayRetry()) return false;
        limited = error;
        await sleep(pauseMs, undefined, { signal });
        return true;
      },
    });
  } catch (error) {
    throw limited ?? error;
  }
}

/** The evaluation's deadline came before the call's turn, or its caller hung up and hears no more of this. */
function neverAsked(): EvaluationError {
  return new EvaluationError("overloaded", "Too many evaluations wait for the judge's model.");
}
