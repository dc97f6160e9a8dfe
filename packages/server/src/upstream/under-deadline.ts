import { CallerGoneError, UpstreamError } from "../errors.ts";

/** Runs `work` under a signal that is aborted when the deadline passes or the caller hangs up, whichever is first. */
export async function underDeadline<Result>(
  timeoutMs: number,
  callerGone: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const onCallerGone = () => controller.abort(new CallerGoneError());
  if (callerGone.aborted) onCallerGone();
  callerGone.addEventListener("abort", onCallerGone, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new UpstreamError("timeout", `The upstream did not answer within ${timeoutMs} ms.`));
  }, timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    callerGone.removeEventListener("abort", onCallerGone);
  }
}
