export interface Feed<Item> {
  /** Resolves when the reader wants the next item: false if it wants no more. */
  add(item: Item): Promise<boolean>;
  end(): void;
  fail(error: Error): void;
  /** The reader has stopped. */
  close(): void;
  /** For one reader. */
  items: AsyncGenerator<Item, void>;
}

/** Items that are handed over one at a time. */
export function createFeed<Item>(): Feed<Item> {
  let isClosed = false;
  let next = Promise.withResolvers<{ item: Item } | "end">();
  let wanted = Promise.withResolvers<void>();
  // Without a reader, its rejection is never observed.
  next.promise.catch(() => {});

  async function* read(): AsyncGenerator<Item, void> {
    for (;;) {
      wanted.resolve();
      const given = await next.promise;
      if (given === "end") return;
      next = Promise.withResolvers();
      next.promise.catch(() => {});
      yield given.item;
    }
  }

  return {
    async add(item) {
      await wanted.promise;
      if (isClosed) return false;
      wanted = Promise.withResolvers();
      next.resolve({ item });
      return true;
    },
    end: () => next.resolve("end"),
    fail: (error) => next.reject(error),
    close() {
      isClosed = true;
      wanted.resolve();
    },
    items: read(),
  };
}
