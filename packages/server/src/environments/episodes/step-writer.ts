import type { NewStep } from "./episodes-store.ts";

/** Stores steps together. Says of each whether it was stored. */
export type WriteSteps = (steps: readonly NewStep[]) => Promise<boolean[]>;

/** Writes the steps of many episodes in one transaction: while one is committed, the next steps are collected. */
export function createStepWriter(write: WriteSteps): (step: NewStep) => Promise<boolean> {
  let waiting: { step: NewStep; stored: PromiseWithResolvers<boolean> }[] = [];
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Steps of the same turn of the event loop join the batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const stored = await write(batch.map(({ step }) => step));
        for (const [index, one] of batch.entries()) one.stored.resolve(stored[index] ?? false);
      } catch (error) {
        for (const one of batch) one.stored.reject(error);
      }
    }
    isWriting = false;
  }

  return async (step) => {
    const stored = Promise.withResolvers<boolean>();
    waiting.push({ step, stored });
    void writeWaiting();
    return await stored.promise;
  };
}
