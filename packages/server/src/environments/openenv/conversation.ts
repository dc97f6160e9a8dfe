import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../../http/caller.ts";
import type { Exchange } from "../../http/exchange.ts";
import { ServiceError } from "../../platform/errors.ts";
import { orAborted } from "../../platform/limits/deadline.ts";
import type { Requester } from "../../platform/storage/store.ts";

/** What is known of one socket. */
export interface Conversation {
  readonly environment: string;
  /** Its route. */
  readonly path: string;
  /** Checked again with each message. */
  readonly key: string;
  /** Those that name a trace. */
  readonly headers: Headers;
  /** The current episode, with the name that the client gave it, and how many of its steps the client was told. */
  episode: { id: string; name: string | undefined; steps: number } | undefined;
}

/** A message of a caller who is known. */
export interface MessageCall {
  exchange: Exchange;
  caller: Caller;
  requester: Requester;
  /** On the clock of `performance.now()`. */
  deadlineAtMs: number;
}

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
