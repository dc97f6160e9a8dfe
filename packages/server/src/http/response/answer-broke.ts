import type { Log } from "../../observability/logger.ts";
import { isStoreUnavailable } from "../../storage/store-failure.ts";
import type { Call } from "../pipeline/route.ts";

/** Logs that a call's answer broke off in the middle. */
export function answerBroke(
  log: Log,
): (call: Pick<Call, "request" | "exchange">) => (error: unknown) => void {
  return ({ request, exchange: { requestId } }) =>
    (error) => {
      // Nobody waits for the rest of it.
      if (request.signal.aborted) return;
      const isOutage = isStoreUnavailable(error);
      if (isOutage) log.storeFailed(error);
      log.logger.error({ requestId, ...(isOutage ? {} : { err: error }) }, "an answer broke off");
    };
}
