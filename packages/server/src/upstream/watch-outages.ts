import { UpstreamError } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import { NotAnsweredError } from "./send-once.ts";
import type { UnreachableReason } from "./unreachable-reason.ts";
import type { Upstream } from "./upstream.ts";

/** An upstream that comes and goes is reported so often at most. */
const pauseMs = 10_000;

/** Hears of every call that an upstream could not be reached for. */
export type CountUnreachable = (upstream: "predictions" | "judges", reason: UnreachableReason) => void;

export interface OutageObservers {
  logger: Pick<Logger, "warn" | "info">;
  /** What the upstream is asked for. */
  upstream: "predictions" | "judges";
  count: CountUnreachable | undefined;
}

/**
 * The same upstream, whose outages are in the log: why it cannot be reached, once an outage and for each new reason, and that
 * it answers again. Callers are not told why: it is about our network, not about their call.
 */
export function watchOutages(
  { complete, listModels }: Upstream,
  { logger, upstream, count }: OutageObservers,
): Upstream {
  let reported: { reason: UnreachableReason; atMs: number } | undefined;
  let isOut = false;

  function noteAnswer(): void {
    if (!isOut) return;
    isOut = false;
    logger.info({ upstream }, "the upstream answers again");
  }

  function noteFailure(error: unknown): void {
    if (error instanceof NotAnsweredError) noteOutage(error);
    // It answered, though not with what was asked for.
    else if (error instanceof UpstreamError && error.status !== undefined) noteAnswer();
  }

  function noteOutage({ reason, code }: NotAnsweredError): void {
    count?.(upstream, reason);
    const nowMs = performance.now();
    const isNew = reported?.reason !== reason || (!isOut && nowMs - reported.atMs >= pauseMs);
    if (!isNew) return;
    isOut = true;
    reported = { reason, atMs: nowMs };
    logger.warn({ upstream, reason, code }, "the upstream cannot be reached");
  }

  // Beside the call, not around it: thousands of them wait at once.
  function watch<Answer>(call: Promise<Answer>): Promise<Answer> {
    call.then(noteAnswer, noteFailure);
    return call;
  }

  return {
    complete: (...call) => watch(complete(...call)),
    listModels: (callerGone) => watch(listModels(callerGone)),
  };
}
