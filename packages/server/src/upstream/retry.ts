import { setTimeout as sleep } from "node:timers/promises";
import { UpstreamError } from "../platform/errors.ts";
import { signalOf } from "../platform/limits/deadline.ts";
import { retryAfterMs } from "./failures.ts";
import type { ReplicaCall, Replicas } from "./replicas.ts";
import { type CompleteResponse, NoResponseError } from "./send.ts";

const minPauseMs = 50;
const maxPauseMs = 2_000;

interface RetryLimits {
  retries: number;
  /** The call's deadline, on the process's clock. */
  endsAtMs: number;
  /** Called before each retry, where retries are bounded beyond this one call. */
  mayRetry?: (() => boolean) | undefined;
}

/**
 * Retries a call after a refused or reset connection or a 503, with growing, jittered pauses. Each retry goes to a replica that was not
 * asked before, if there is one; the first one after a refused or reset connection immediately. The same replica is never asked before its
 * `Retry-After`; if that is longer than our longest pause, or a pause reaches the deadline, the error goes to the client instead. After a
 * 429, or an answer that may be the replica's fault, one other replica is asked immediately if one has room. Every request passes through here.
 */
export function sendWithRetries<Read>(
  replicas: Replicas,
  call: ReplicaCall<Read>,
  limits: RetryLimits,
): Promise<CompleteResponse<Read>> {
  const firstTry = replicas.send(call);
  // Only a failed call pays for the loop, which takes the failed try as its first.
  return limits.retries === 0 ? firstTry : firstTry.catch(() => sendAgain(replicas, call, limits, firstTry));
}

async function sendAgain<Read>(
  replicas: Replicas,
  call: ReplicaCall<Read>,
  { retries, endsAtMs, mayRetry = () => true }: RetryLimits,
  firstTry: Promise<CompleteResponse<Read>>,
): Promise<CompleteResponse<Read>> {
  const { signal } = call;
  const { retryShare } = replicas;
  let failovers = 0;
  let mayGoOn = true;
  let isCounted = false;

  const mayCount = (): boolean => {
    if (retryShare === undefined) return true;
    const isTaken = retryShare.take(replicas.inFlight(), isCounted);
    isCounted ||= isTaken;
    return isTaken;
  };
  const failOver = (error: unknown): Promise<CompleteResponse<Read>> => {
    const mayGo =
      replicas.mayFailOver(call, error) && (replicas.isFailoverFree(error) || mayCount()) && mayRetry();
    if (!mayGo) throw error;
    failovers = 1;
    // After an answer only one other replica is asked, as a request that no replica can serve would otherwise visit all of them.
    mayGoOn = error instanceof NoResponseError;
    return replicas.send({ ...call, freshConnection: true });
  };
  /** How long to wait before the next try; undefined if there is none. */
  const pauseAfter = (error: unknown, attempt: number): number | undefined => {
    if (!mayGoOn || attempt + failovers > retries) return undefined;
    // Some servers report a context overflow as a 503; a retry would not make it fit.
    const isUnavailable =
      error instanceof UpstreamError && error.status === 503 && error.category === "unavailable";
    if (!isUnavailable && !(error instanceof NoResponseError)) return undefined;
    // The pause is the replica's own, so another replica need not wait for it.
    const ownMs = isUnavailable && !replicas.hasOther(call) ? retryAfterMs(error.retryAfter) : 0;
    const pauseMs = ownMs + Math.min(maxPauseMs, (1 + Math.random()) * minPauseMs * 2 ** (attempt - 1));
    if (ownMs > maxPauseMs || performance.now() + pauseMs >= endsAtMs) return undefined;
    return mayCount() && mayRetry() ? pauseMs : undefined;
  };

  let sent = firstTry.catch(failOver);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await sent;
      } catch (error) {
        const pauseMs = pauseAfter(error, attempt);
        if (pauseMs === undefined) throw error;
        await sleep(pauseMs, undefined, { signal: signalOf(signal) }).catch(() => signal.throwIfAborted());
      }
      // Every pooled connection may be dead; the last try does not depend on them.
      sent = replicas.send({ ...call, freshConnection: attempt + 1 + failovers > retries });
    }
  } finally {
    if (isCounted) retryShare?.release();
  }
}
