import { orAborted } from "../platform/limits/deadline.ts";

export type KeysInFlight = ReturnType<typeof createKeysInFlight>;

/** Request keys of the requests in flight in this process. */
export function createKeysInFlight() {
  const inFlight = new Map<string, Promise<void>>();

  return {
    /**
     * Runs `work` for some keys. If another request works with one of them, this waits for it first, since its results are stored by
     * then. Those that waited for one request continue together: if it stored nothing, each does its own work.
     */
    async withKeys<Result>(
      keys: readonly string[],
      clientSignal: AbortSignal,
      work: () => Promise<Result>,
    ): Promise<Result> {
      const others = new Set(keys.flatMap((key) => inFlight.get(key) ?? []));
      if (others.size > 0) await orAborted(Promise.all(others), clientSignal);
      const done = Promise.withResolvers<void>();
      const own = keys.filter((key) => !inFlight.has(key));
      for (const key of own) inFlight.set(key, done.promise);
      try {
        return await work();
      } finally {
        for (const key of own) inFlight.delete(key);
        done.resolve();
      }
    },
  };
}
