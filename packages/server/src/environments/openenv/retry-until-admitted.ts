import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../platform/errors.ts";
import { orAborted } from "../../platform/limits/deadline.ts";
import type { MessageCall } from "./conversation.ts";

/**
 * Tries again what a limit refused, as long as it may be admitted before the deadline: OpenEnv's client would fail its whole episode
 * where one over HTTP waits and retries.
 */
export async function retryUntilAdmitted<Value>(
  { requester: { signal }, deadlineAtMs }: MessageCall,
  enter: () => Value | Promise<Value>,
): Promise<Value> {
  for (;;) {
    try {
      return await enter();
    } catch (error) {
      const isRefusal =
        error instanceof ServiceError && (error.code === "rate_limited" || error.code === "overloaded");
      if (!isRefusal || error.retryAfterS === undefined) throw error;
      // Spread, so that all who wait do not return together.
      const waitMs = error.retryAfterS * 1000 * (1 + Math.random() / 2);
      if (performance.now() + waitMs > deadlineAtMs) throw error;
      await orAborted(sleep(waitMs), signal);
    }
  }
}
