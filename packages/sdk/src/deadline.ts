import { PresageError } from "./presage-error.ts";

/** Longer timers fire immediately. */
const longestTimerMs = 2 ** 31 - 1;

/** A call's time limit and the caller's signal, as one signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** Waits, or rejects with the signal's reason. */
  sleep(delayMs: number): Promise<void>;
  /** Starts the time limit again. */
  restart(): void;
  /** Stops the clock until the next `restart`. */
  pause(): void;
  /** Releases the timer and the listener on the caller's signal. */
  end(): void;
}

/** Starts a call's time limit. End it, or its timer stays. */
export function startDeadline(
  baseUrl: string,
  timeoutMs: number,
  callerSignal: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = () => controller.abort(callerSignal?.reason);
  let endsAtMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  if (callerSignal?.aborted) onAbort();
  else callerSignal?.addEventListener("abort", onAbort, { once: true });
  restart();

  function restart(): void {
    clearTimeout(timer);
    endsAtMs = Date.now() + timeoutMs;
    timer = setTimeout(
      () => controller.abort(timedOut(baseUrl, timeoutMs)),
      Math.max(0, Math.min(timeoutMs, longestTimerMs)),
    );
  }

  return {
    signal,
    remainingMs: () => endsAtMs - Date.now(),
    sleep: (delayMs) => sleep(delayMs, signal),
    restart,
    pause: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      callerSignal?.removeEventListener("abort", onAbort);
    },
  };
}

function timedOut(baseUrl: string, timeoutMs: number): PresageError {
  return new PresageError(`Presage at ${baseUrl} did not respond within ${timeoutMs} ms.`, {
    category: "timeout",
  });
}

/** Waits, or rejects with the signal's reason. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
