import { setImmediate as nextTurn } from "node:timers/promises";
import { createFairSlots } from "./fair-slots.ts";

/** Turns for work that keeps the main thread busy for milliseconds, such as reading a body of megabytes. */
export interface LongWork {
  /**
   * Resolves when it is the caller's turn, with the function that ends it. Rejects with the signal's reason as soon as the signal is
   * aborted. Of one account, far fewer `bytes` come first.
   */
  take(accountId: string, signal: AbortSignal, bytes: number): Promise<() => void>;
}

/**
 * One caller at a time: what arrives together would otherwise be done in one turn of the event loop, in which nothing else is
 * answered. Accounts take turns, so that one with many such requests delays another's by one of them.
 */
export function createLongWork(): LongWork {
  const slots = createFairSlots({ slots: 1 });
  return {
    async take(accountId, signal, bytes) {
      const release = await slots.take(accountId, signal, bytes);
      return () => void restAndRelease(release);
    },
  };
}

/** What the caller does with its result is done in this turn of the loop. The next one is for other requests. */
async function restAndRelease(release: () => void): Promise<void> {
  await nextTurn();
  await nextTurn();
  release();
}
