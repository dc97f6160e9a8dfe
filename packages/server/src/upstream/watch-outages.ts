import { defined } from "../platform/defined.ts";
import { UpstreamError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { watchOutage } from "../platform/observability/watch-outage.ts";
import { NoResponseError } from "./send-once.ts";
import type { UnreachableReason } from "./unreachable-reason.ts";
import type { ModelList, Purpose, Upstream, UpstreamCompletion } from "./upstream.ts";

/** Counts a call for which an upstream could not be reached. */
export type CountUnreachable = (upstream: Purpose, reason: UnreachableReason) => void;

interface OutageObservers {
  logger: Pick<Logger, "warn">;
  /** The deployment's name, where there may be several. */
  deployment?: string | undefined;
  count?: CountUnreachable | undefined;
}

/**
 * The same upstream, but its outages are logged: why it cannot be reached, each reason once an outage, and when it is back.
 * Clients are not told why, as it is about our network and not about their request.
 */
export function watchOutages(
  { complete, listModels, ...rest }: Upstream,
  { logger, deployment, count }: OutageObservers,
): Upstream {
  function createWatch(upstream: Purpose) {
    const outage = watchOutage(logger, {
      begins: "the upstream cannot be reached",
      ends: "the upstream answers again",
      fields: defined({ upstream, deployment }),
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

    function recordResponse(answer: UpstreamCompletion | ModelList): void {
      // What is kept says nothing of the upstream.
      if (!("cache" in answer) || answer.cache?.result !== "hit") outage.responded();
    }

    // Beside the call instead of around it: thousands wait at once.
    return <Answer extends UpstreamCompletion | ModelList>(call: Promise<Answer>): Promise<Answer> => {
      call.then(recordResponse, recordFailure);
      return call;
    };
  }

  const watch = { predictions: createWatch("predictions"), judges: createWatch("judges") };
  return {
    ...rest,
    complete: (request, clientSignal, options) =>
      watch[options?.purpose ?? "predictions"](complete(request, clientSignal, options)),
    listModels: (clientSignal) => watch.predictions(listModels(clientSignal)),
  };
}
