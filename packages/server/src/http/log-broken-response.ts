import type { Services } from "../app/services.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { Call } from "./route.ts";

/** Logs that the response to a call broke off before its end. */
export function logBrokenResponse(
  { log }: Pick<Services, "log">,
  { request, exchange: { requestId } }: Pick<Call, "request" | "exchange">,
): (error: unknown) => void {
  return (error) => {
    // The client disconnected and does not wait for the rest.
    if (request.signal.aborted) return;
    const isOutage = isStoreUnavailable(error);
    if (isOutage) log.storeFailed(error);
    log.logger.error({ requestId, ...(isOutage ? {} : { err: error }) }, "response broke off");
  };
}
