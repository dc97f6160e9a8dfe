import type { Log } from "../observability/logger.ts";
import { isStoreUnavailable } from "../storage/store-error.ts";

/** Batches are retried every few seconds; only the first failure is logged. */
export function logWriteFailure(log: Log, error: unknown, isFirst: boolean, message: string): void {
  if (isStoreUnavailable(error)) log.storeFailed(error);
  else if (isFirst) log.logger.warn({ err: error }, message);
}
