import { UpstreamError } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import { watchOutage } from "../observability/watch-outage.ts";
import { NotAnsweredError } from "./send-once.ts";
import type { UnreachableReason } from "./unreachable-reason.ts";
import type { Upstream } from "./upstream.ts";

/** Hears of every call that an upstream could not be reached for. */
export type CountUnreachable = (upstream: "predictions" | "judges", reason: UnreachableReason) => void;

export interface OutageObservers {
  logger: Pick<Logger, "warn">;
  /** What the upstream is asked for. */
  upstream: "predictions" | "judges";
  count: CountUnreachable | undefined;
}

/**
 * The same upstream, whose outages are in the log: why it cannot be reached, each reason once an outage, and that it
 * answers again. Callers are not told why: it is about our network, not about their call.
 */
export function watchOutages(
  { complete, listModels }: Upstream,
  { logger, upstream, count }: OutageObservers,
): Upstream {
  const outage = watchOutage(logger, {
    begins: "the upstream cannot be reached",
    ends: "the upstream answers again",
    fields: { upstream },
  });

  function noteFailure(error: unknown): void {
    if (error instanceof NotAnsweredError) {
      const { reason, code } = error;
      count?.(upstream, reason);
      outage.failed(reason, () => ({ reason, code }));
    }
    // It answered, though not with what was asked for.
    else if (error instanceof UpstreamError && error.status !== undefined) outage.answered();
  }

  // Beside the call, not around it: thousands of them wait at once.
  function watch<Answer>(call: Promise<Answer>): Promise<Answer> {
    call.then(outage.answered, noteFailure);
    return call;
  }

  return {
    complete: (...call) => watch(complete(...call)),
    listModels: (callerGone) => watch(listModels(callerGone)),
  };
}
