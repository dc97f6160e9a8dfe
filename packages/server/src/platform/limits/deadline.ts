export interface DeadlineLimits {
  timeoutMs: number;
  /** The reason of the abort once the time is up. */
  timeoutError(timeoutMs: number): Error;
  /** Aborts the work as well. */
  signal?: AbortSignal | undefined;
  /** The reason of that abort; absent: the signal's own. */
  abortError?(): Error;
}

export interface Deadline {
  /** Aborted when the time is up or the outer signal is aborted, whichever is first, with the error of that. */
  signal: AbortSignal;
  /** Stops watching. Every deadline must be ended. */
  end(): void;
}

/** For calls made by the thousand: unlike `withDeadline` it keeps no closure alive while waiting. */
export function startDeadline(limits: DeadlineLimits, outer = limits.signal): Deadline {
  const { timeoutMs } = limits;
  const controller = new AbortController();
  const onAbort = () => controller.abort(limits.abortError?.() ?? outer?.reason);
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort);
  const timer = setTimeout(() => controller.abort(limits.timeoutError(timeoutMs)), timeoutMs);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}

/** Runs `work`, which stops when its signal is aborted: at the deadline, or by the outer signal. */
export async function withDeadline<Value>(
  limits: DeadlineLimits,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { signal, end } = startDeadline(limits);
  try {
    return await work(signal);
  } finally {
    end();
  }
}

/** Waits for work that does not know the signal: rejects with the signal's reason as soon as it is aborted. */
export async function orAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** One retry for each of a request's evaluators, of which there are at most this many. */
const retriesOfRequest = 20;

/**
 * Limits the retries of all evaluators of one request together: each call returns whether one more is allowed. Without it, twenty
 * judges would call an overloaded model six times each.
 */
export function createRetryBudget(retries = retriesOfRequest): () => boolean {
  let left = retries;
  return () => {
    if (left === 0) return false;
    left -= 1;
    return true;
  };
}
