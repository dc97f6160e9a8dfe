import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../../errors.ts";
import { askedPauseMs } from "../../upstream/asked-pause-ms.ts";
import type { CompletionRequest, Upstream, UpstreamCompletion } from "../../upstream/upstream.ts";

const retries = 5;
const firstPauseMs = 250;
/** Whoever asks for more than this is not waited for. */
const longestPauseMs = 60_000;

/** Asks, and where the rate is limited waits as long as it is asked to and asks again. */
export async function askPatiently(
  complete: Upstream["complete"],
  request: CompletionRequest,
  signal: AbortSignal,
): Promise<UpstreamCompletion> {
  let limited: UpstreamError | undefined;
  const ask = () => {
    limited = undefined;
    return complete(request, signal);
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
        if (pauseMs > longestPauseMs) return false;
        limited = error;
        await sleep(pauseMs, undefined, { signal });
        return true;
      },
    });
  } catch (error) {
    throw limited ?? error;
  }
}
