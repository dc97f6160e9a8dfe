import type { Log } from "../platform/observability/logger.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";

/** Warns of background work that failed and is retried. An outage of the store has a log line of its own. */
export function logFailure(log: Log, error: unknown, message: string, isFirst = true): void {
  if (isStoreUnavailable(error)) log.storeFailed(error);
  else if (isFirst) log.logger.warn({ err: error }, message);
}
