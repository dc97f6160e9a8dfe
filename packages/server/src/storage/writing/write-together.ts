/**
 * Hands items that are added at the same time to one write: while one is in progress, the next items are collected. Each call
 * returns its own part of what the write returned, once that is done.
 */
export function writeTogether<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; written: PromiseWithResolvers<Result> }[] = [];
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Items of the same turn of the event loop join the batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const results = await write(batch.map(({ item }) => item));
        // One for each item.
        for (const [index, { written }] of batch.entries()) written.resolve(results[index] as Result);
      } catch (error) {
        for (const { written } of batch) written.reject(error);
      }
    }
    isWriting = false;
  }

  return async (item) => {
    const written = Promise.withResolvers<Result>();
    waiting.push({ item, written });
    void writeWaiting();
    return await written.promise;
  };
}
