import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../errors.ts";
import { askedPauseMs } from "./retry-after-ms.ts";
import { type Answer, NotAnsweredError, type Send, type UpstreamCall } from "./send-once.ts";

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * The only loop that asks an upstream again: after a refused or reset connection or a 503, with jittered and growing
 * pauses, and not before the upstream's `Retry-After`. One that asks for a longer pause than ours is left alone; its
 * `Retry-After` goes to the caller.
 */
export function askWithRetries(
  send: Send,
  call: UpstreamCall,
  retries: number,
  mayRetry: () => boolean = () => true,
): Promise<Answer> {
  const firstTry = send(call);
  // Only a call that failed pays for the loop, which takes the failed try as its first.
  return retries === 0 ? firstTry : firstTry.catch(() => askAgain(send, call, retries, mayRetry, firstTry));
}

function askAgain(
  send: Send,
  call: UpstreamCall,
  retries: number,
  mayRetry: () => boolean,
  firstTry: Promise<Answer>,
): Promise<Answer> {
  const { signal } = call;
  const ask = (tryNumber: number) =>
    // Every pooled connection may be a dead one; the last try does not depend on them.
    tryNumber === 1 ? firstTry : send({ ...call, freshConnection: tryNumber > retries });
  return pRetry(ask, {
    retries,
    signal,
    minTimeout: firstPauseMs,
    maxTimeout: longestPauseMs,
    randomize: true,
    async shouldRetry({ error }) {
      if (error instanceof NotAnsweredError) return mayRetry();
      // A context overflow may come as a 503 as well; no other try will make it fit.
      if (!(error instanceof UpstreamError) || error.status !== 503 || error.category !== "unavailable")
        return false;
      const pauseMs = askedPauseMs(error.retryAfter);
      if (pauseMs > longestPauseMs || !mayRetry()) return false;
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      return true;
    },
  });
}
