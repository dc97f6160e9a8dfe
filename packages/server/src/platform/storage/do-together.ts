import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Hands items that are added at the same time to one call of `work`: while one is in progress, the next items are collected. Each
 * item gets its own part of what the call returned, once that is done.
 */
export function doTogether<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; done: PromiseWithResolvers<Result> }[] = [];
  let isWorking = false;

  async function workOnWaiting(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    while (waiting.length > 0) {
      // Requests that have arrived are read first, and their items join the batch.
      await nextTurn();
      const batch = waiting;
      waiting = [];
      try {
        const results = await work(batch.map(({ item }) => item));
        // One for each item.
        for (const [index, { done }] of batch.entries()) done.resolve(results[index] as Result);
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWorking = false;
  }

  return async (item) => {
    const done = Promise.withResolvers<Result>();
    waiting.push({ item, done });
    void workOnWaiting();
    return await done.promise;
  };
}
