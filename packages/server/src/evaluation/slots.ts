import { EvaluationFailure } from "./evaluators/family.ts";

export interface SlotLimits {
  slots: number;
  maxWaiting: number;
  maxWaitMs: number;
}

export interface Slots {
  /** Comes back when a slot is free, with the function that frees it again, to be called once. */
  take(signal: AbortSignal): Promise<() => void>;
}

/** Lets so many in at once; so many more wait their turn, first come first served, and the rest are turned away. */
export function createSlots({ slots, maxWaiting, maxWaitMs }: SlotLimits): Slots {
  let free = slots;
  const waiting = new Set<() => void>();

  function release() {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return release;
      }
      if (waiting.size >= maxWaiting) {
        throw new EvaluationFailure("overloaded", "Too many heavy evaluations wait already.");
      }
      const turn = Promise.withResolvers<void>();
      // Who leaves the queue leaves it at once, or a slot freed just then would go to nobody.
      const enter = () => {
        waiting.delete(enter);
        turn.resolve();
      };
      const giveUp = (reason: unknown) => {
        waiting.delete(enter);
        turn.reject(reason);
      };
      const onAbort = () => giveUp(signal.reason);
      const tooLong = setTimeout(
        () => giveUp(new EvaluationFailure("overloaded", `No thread was free within ${maxWaitMs} ms.`)),
        maxWaitMs,
      );
      waiting.add(enter);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        await turn.promise;
        return release;
      } finally {
        clearTimeout(tooLong);
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}
