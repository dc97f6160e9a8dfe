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
export type RetryShare = ReturnType<typeof createRetryShare>;

/**
 * At any time, at most a fifth of the calls in flight are retries, or 3. Calls that fail immediately are hardly ever in flight, so
 * retries also have to be earned by calls that are answered, one for every five. In an outage a reserve of 30 is left, which
 * refills by one each second.
 */
export function createRetryShare(nowMs: () => number) {
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
    /** Whether a call may be tried again; `isRetrying` if an earlier retry of this call was counted. */
    take(inFlight: number, isRetrying: boolean): boolean {
      if (!isRetrying && retrying >= Math.max(minRetries, Math.floor(share * inFlight))) return false;
      if (!spend()) return false;
      if (!isRetrying) retrying += 1;
      return true;
    },
    /** A call whose retries were counted has ended. */
    release(): void {
      retrying -= 1;
    },
    /** A call was answered. */
    earn(): void {
      earned = Math.min(maxEarned, earned + share);
    },
  };
}
