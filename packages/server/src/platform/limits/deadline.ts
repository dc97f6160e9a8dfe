export interface DeadlineLimits {
  timeoutMs: number;
  /** The reason for the abort once the time is up. */
  timeoutError(timeoutMs: number): Error;
  /** Also aborts the work. */
  signal?: AbortSignal | undefined;
  /** The reason for an abort by `signal`; the signal's own reason if absent. */
  abortError?(): Error;
}

/** Work that may be aborted: an `AbortSignal`, or something cheaper. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** For work that continues without its caller: others wait for it, or it must be finished. */
export const neverAborted = new AbortController().signal;

export interface Deadline {
  /** Aborted when the time is up or the outer signal is aborted, whichever comes first, with the matching error. */
  readonly signal: Cancellation;
  /** Stops watching. Every deadline must be ended. */
  end(): void;
}

const tickMs = 20;

/** A class, because thousands wait at the same time; none of them has its own timer. */
class WatchedDeadline implements Deadline, Cancellation {
  aborted = false;
  reason: unknown = undefined;
  readonly #watched: Set<WatchedDeadline>;
  readonly #listeners: (() => void)[] = [];
  readonly #outer: AbortSignal | undefined;
  readonly #dueMs: number;
  readonly #limits: DeadlineLimits;
  #ownSignal: AbortSignal | undefined;

  constructor(watched: Set<WatchedDeadline>, outer: AbortSignal | undefined, limits: DeadlineLimits) {
    this.#watched = watched;
    this.#outer = outer;
    this.#limits = limits;
    this.#dueMs = performance.now() + limits.timeoutMs;
    watched.add(this);
    outer?.addEventListener("abort", this);
    if (outer?.aborted) this.handleEvent();
  }

  /** Called when the outer signal is aborted: a lost client must be noticed immediately, as an answer may come in the same tick. */
  handleEvent(): void {
    this.#abort(this.#limits.abortError?.() ?? this.#outer?.reason);
  }

  get signal(): Cancellation {
    return this;
  }

  end(): void {
    this.#watched.delete(this);
    this.#outer?.removeEventListener("abort", this);
  }

  /** Aborts the deadline if it is due, and returns whether it was. */
  check(nowMs: number): boolean {
    const { timeoutMs, timeoutError } = this.#limits;
    const isDue = nowMs >= this.#dueMs;
    if (isDue) this.#abort(timeoutError(timeoutMs));
    return isDue;
  }

  #abort(reason: unknown): void {
    this.end();
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place >= 0) this.#listeners.splice(place, 1);
  }

  toSignal(): AbortSignal {
    if (this.#ownSignal !== undefined) return this.#ownSignal;
    const controller = new AbortController();
    this.#ownSignal = controller.signal;
    if (this.aborted) controller.abort(this.reason);
    else this.addEventListener("abort", () => controller.abort(this.reason));
    return controller.signal;
  }
}

/** Converts a cancellation to an `AbortSignal`. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof WatchedDeadline) return cancellation.toSignal();
  throw new TypeError("Neither an AbortSignal nor a deadline.");
}

/** Creates deadlines that share one timer, so that each is noticed up to a tick late. */
export function createDeadlines(limits: DeadlineLimits): (outer: AbortSignal) => Deadline {
  const watched = new Set<WatchedDeadline>();
  let isTicking = false;

  function tick(): void {
    const nowMs = performance.now();
    // All have the same timeout, so they are due in the order in which they were created.
    for (const deadline of watched) if (!deadline.check(nowMs)) break;
    isTicking = watched.size > 0;
    if (isTicking) setTimeout(tick, tickMs);
  }

  return (outer) => {
    const deadline = new WatchedDeadline(watched, outer, limits);
    if (!isTicking) {
      isTicking = true;
      setTimeout(tick, tickMs);
    }
    return deadline;
  };
}

/** Runs `work`, which stops when its signal is aborted: at the deadline, or by the outer signal. */
export async function withDeadline<Value>(
  limits: DeadlineLimits,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { timeoutMs, signal: outer } = limits;
  const controller = new AbortController();
  const onAbort = () => controller.abort(limits.abortError?.() ?? outer?.reason);
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort);
  const timer = setTimeout(() => controller.abort(limits.timeoutError(timeoutMs)), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  }
}

/** Waits for work that ignores the signal; rejects with the signal's reason as soon as it is aborted. */
export async function orAborted<Value>(work: Promise<Value>, signal: Cancellation): Promise<Value> {
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

/** The result of work, or `late` if there is none in time. The work goes on. */
export async function orLate<Value>(work: Promise<Value>, late: Value, timeoutMs: number): Promise<Value> {
  const timeout = Promise.withResolvers<Value>();
  const timer = setTimeout(() => timeout.resolve(late), timeoutMs);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A request has at most this many evaluators: one retry for each. */
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
