import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { UpstreamError } from "../platform/errors.ts";
import { signalOf } from "../platform/limits/deadline.ts";
import type { ReplicaCall, Replicas } from "./replicas.ts";
import { type CompleteResponse, NoResponseError } from "./send.ts";

/** The pause in a `Retry-After`: a number of seconds, or a date. 0 if it is absent, past or neither. */
export function retryAfterMs(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? 0 : Math.max(0, pauseMs);
}

const minPauseMs = 50;
const maxPauseMs = 2_000;

interface RetryLimits {
  retries: number;
  /** Called before each retry, where retries are bounded beyond this one call. */
  mayRetry?: (() => boolean) | undefined;
}

/**
 * Retries a call after a refused or reset connection or a 503, with growing, jittered pauses and never before the upstream's
 * `Retry-After`. If that is longer than our longest pause, it goes to the client instead. Each retry goes to a replica that was not
 * asked before, if there is one; the first after a refused or reset connection at once. Every request passes through here.
 */
export function sendWithRetries(
  replicas: Replicas,
  call: ReplicaCall,
  limits: RetryLimits,
): Promise<CompleteResponse> {
  const firstTry = replicas.send(call);
  // Only a failed call pays for the loop, which takes the failed try as its first.
  return limits.retries === 0 ? firstTry : firstTry.catch(() => sendAgain(replicas, call, limits, firstTry));
}

async function sendAgain(
  replicas: Replicas,
  call: ReplicaCall,
  { retries, mayRetry = () => true }: RetryLimits,
  firstTry: Promise<CompleteResponse>,
): Promise<CompleteResponse> {
  const { signal } = call;
  const { retryShare } = replicas;
  let failovers = 0;
  let isCounted = false;

  const mayCount = (): boolean => {
    if (retryShare === undefined) return true;
    const isTaken = retryShare.take(replicas.inFlight(), isCounted);
    isCounted ||= isTaken;
    return isTaken;
  };
  const failOver = (error: unknown): Promise<CompleteResponse> => {
    const mayGo =
      replicas.mayFailOver(call, error) && (replicas.isFailoverFree() || mayCount()) && mayRetry();
    if (!mayGo) throw error;
    failovers = 1;
    return replicas.send({ ...call, freshConnection: true });
  };
  const attempt = (number: number) =>
    // Every pooled connection may be dead; the last try does not depend on them.
    number === 1
      ? firstTry.catch(failOver)
      : replicas.send({ ...call, freshConnection: number + failovers > retries });

  try {
    return await pRetry(attempt, {
      retries,
      signal: signalOf(signal),
      minTimeout: minPauseMs,
      maxTimeout: maxPauseMs,
      randomize: true,
      async shouldRetry({ error, attemptNumber }) {
        if (attemptNumber + failovers > retries) return false;
        if (error instanceof NoResponseError) return mayCount() && mayRetry();
        // Some servers report a context overflow as a 503; a retry would not make it fit.
        if (!(error instanceof UpstreamError) || error.status !== 503 || error.category !== "unavailable")
          return false;
        const pauseMs = retryAfterMs(error.retryAfter);
        if (pauseMs > maxPauseMs || !mayCount() || !mayRetry()) return false;
        await sleep(pauseMs, undefined, { signal: signalOf(signal) }).catch(() => signal.throwIfAborted());
        return true;
      },
    });
  } finally {
    if (isCounted) retryShare?.release();
  }
}

/** All retries together are at most this share of the requests in flight … */
const share = 0.2;
/** … but a few are always possible. */
const minRetries = 3;
/** Answered calls earn retries up to this number. */
const maxEarned = 100;
/** Retries that need not be earned. */
const maxReserve = 30;
const reserveRefillMs = 1_000;

/** Bounds the retries of all calls together, so that they do not double the load on replicas that fail. */
export interface RetryShare {
  /** Whether a call may be tried again; `isRetrying` if an earlier retry of it was counted. */
  take(inFlight: number, isRetrying: boolean): boolean;
  /** A call whose retries were counted has ended. */
  release(): void;
  /** A call was answered. */
  earn(): void;
}

/**
 * At any time, at most a fifth of the calls in flight are retries, or 3. Calls that fail at once are hardly ever in flight, so
 * retries also have to be earned by calls that are answered, one by every five. In an outage a reserve of 30 is left, which
 * fills by one each second.
 */
export function createRetryShare(nowMs: () => number): RetryShare {
  let retrying = 0;
  let earned = 0;
  let reserve = maxReserve;
  let refilledAtMs = nowMs();

  function spend(): boolean {
    if (earned >= 1) {
      earned -= 1;
      return true;
    }
    const at = nowMs();
    const refill = Math.floor((at - refilledAtMs) / reserveRefillMs);
    reserve = Math.min(maxReserve, reserve + refill);
    refilledAtMs += refill * reserveRefillMs;
    if (reserve === 0) return false;
    reserve -= 1;
    return true;
  }

  return {
    take(inFlight, isRetrying) {
      if (!isRetrying && retrying >= Math.max(minRetries, Math.floor(share * inFlight))) return false;
      if (!spend()) return false;
      if (!isRetrying) retrying += 1;
      return true;
    },
    release() {
      retrying -= 1;
    },
    earn() {
      earned = Math.min(maxEarned, earned + share);
    },
  };
}
