import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../errors.ts";
import { retryAfterMs } from "./retry-after-ms.ts";
import { type CompleteResponse, NoResponseError, type Send, type UpstreamCall } from "./send-once.ts";

const minPauseMs = 50;
const maxPauseMs = 2_000;

/**
 * The only loop that retries an upstream: after a refused or reset connection or a 503, with growing, jittered pauses and
 * never before the upstream's `Retry-After`. If that is longer than our longest pause, there is no retry and the `Retry-After`
 * goes to the client.
 */
export function sendWithRetries(
  send: Send,
  call: UpstreamCall,
  retries: number,
  mayRetry: () => boolean = () => true,
): Promise<CompleteResponse> {
  const firstTry = send(call);
  // Only a failed call pays for the loop, which takes the failed try as its first.
  return retries === 0 ? firstTry : firstTry.catch(() => sendAgain(send, call, retries, mayRetry, firstTry));
}

function sendAgain(
  send: Send,
  call: UpstreamCall,
  retries: number,
  mayRetry: () => boolean,
  firstTry: Promise<CompleteResponse>,
): Promise<CompleteResponse> {
  const { signal } = call;
  const attempt = (number: number) =>
    // Every pooled connection may be dead; the last try does not depend on them.
    number === 1 ? firstTry : send({ ...call, freshConnection: number > retries });
  return pRetry(attempt, {
    retries,
    signal,
    minTimeout: minPauseMs,
    maxTimeout: maxPauseMs,
    randomize: true,
    async shouldRetry({ error }) {
      if (error instanceof NoResponseError) return mayRetry();
      // Some servers report a context overflow as a 503; a retry would not make it fit.
      if (!(error instanceof UpstreamError) || error.status !== 503 || error.category !== "unavailable")
        return false;
      const pauseMs = retryAfterMs(error.retryAfter);
      if (pauseMs > maxPauseMs || !mayRetry()) return false;
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      return true;
    },
  });
}
