import { ClientDisconnectedError, UpstreamError } from "../errors.ts";

export interface Deadline {
  /** Aborted when the deadline passes or the caller hangs up, whichever is first, with the error that this means. */
  signal: AbortSignal;
  /** Stops watching. Whoever starts a deadline ends it. */
  end(): void;
}

/** Starts the one clock that a call and all its tries run against. */
export function startDeadline(timeoutMs: number, callerGone: AbortSignal): Deadline {
  const controller = new AbortController();
  const onCallerGone = () => controller.abort(new ClientDisconnectedError());
  if (callerGone.aborted) onCallerGone();
  callerGone.addEventListener("abort", onCallerGone);
  const timer = setTimeout(() => {
    controller.abort(new UpstreamError("timeout", `The upstream did not answer within ${timeoutMs} ms.`));
  }, timeoutMs);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      callerGone.removeEventListener("abort", onCallerGone);
    },
  };
}
