import { UpstreamError } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import { watchOutage } from "../observability/watch-outage.ts";
import { NoResponseError } from "./send-once.ts";
import type { UnreachableReason } from "./unreachable-reason.ts";
import type { Upstream } from "./upstream.ts";

/** Counts a call for which an upstream could not be reached. */
export type CountUnreachable = (upstream: "predictions" | "judges", reason: UnreachableReason) => void;

export interface OutageObservers {
  logger: Pick<Logger, "warn">;
  /** What the upstream is used for. */
  upstream: "predictions" | "judges";
  count: CountUnreachable | undefined;
}

/**
 * The same upstream, but its outages are logged: why it cannot be reached, each reason once an outage, and when it is back.
 * Clients are not told why, as it is about our network and not about their request.
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

  function recordFailure(error: unknown): void {
    if (error instanceof NoResponseError) {
      const { reason, code } = error;
      count?.(upstream, reason);
      outage.failed(reason, () => ({ reason, code }));
    }
    // It responded, though with an error.
    else if (error instanceof UpstreamError && error.status !== undefined) outage.responded();
  }

  // Beside the call instead of around it: thousands wait at once.
  function watch<Answer>(call: Promise<Answer>): Promise<Answer> {
    call.then(outage.responded, recordFailure);
    return call;
  }

  return {
    complete: (...call) => watch(complete(...call)),
    listModels: (clientSignal) => watch(listModels(clientSignal)),
  };
}
