import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../errors.ts";
import { NotAnsweredError } from "./send-once.ts";

const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * The only loop that asks an upstream again: after a refused or reset connection or a 503, with jittered and growing
 * pauses, and not before the upstream's `Retry-After`. One that asks for a longer pause than ours is left alone; its
 * `Retry-After` goes to the caller.
 */
export async function askWithRetries<Answer>(
  retries: number,
  signal: AbortSignal,
  ask: (isLastTry: boolean) => Promise<Answer>,
): Promise<Answer> {
  const firstTry = ask(false);
  try {
    return await firstTry;
  } catch {
    // Only a call that failed pays for the loop, which takes the failed try as its first.
  }
  return await pRetry((tryNumber) => (tryNumber === 1 ? firstTry : ask(tryNumber > retries)), {
    retries,
    signal,
    minTimeout: firstPauseMs,
    maxTimeout: longestPauseMs,
    randomize: true,
    async shouldRetry({ error }) {
      if (error instanceof NotAnsweredError) return true;
      if (!(error instanceof UpstreamError) || error.status !== 503) return false;
      const pauseMs = askedPauseMs(error.retryAfter);
      if (pauseMs > longestPauseMs) return false;
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      return true;
    },
  });
}

/** `Retry-After` is a number of seconds or a date. */
function askedPauseMs(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? 0 : Math.max(0, pauseMs);
}
