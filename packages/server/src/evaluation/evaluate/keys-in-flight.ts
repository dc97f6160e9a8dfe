import { ClientDisconnectedError } from "../../errors.ts";

/** Request keys of requests that are under way in this process. */
export interface KeysUnderWay {
  /**
   * Works with keys. Whoever comes while another does so waits for that one first, whose results are in the store by then. All who
   * waited go on together: if there is nothing in the store, each has to work for itself.
   */
  withKeys<Result>(
    keys: readonly string[],
    callerGone: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export function createKeysUnderWay(): KeysUnderWay {
  const underWay = new Map<string, Promise<void>>();
  const othersWith = (keys: readonly string[]) => new Set(keys.flatMap((key) => underWay.get(key) ?? []));

  return {
    async withKeys(keys, callerGone, work) {
      const others = othersWith(keys);
      if (others.size > 0) await untilDone(others, callerGone);
      const done = Promise.withResolvers<void>();
      const mine = keys.filter((key) => !underWay.has(key));
      for (const key of mine) underWay.set(key, done.promise);
      try {
        return await work();
      } finally {
        for (const key of mine) underWay.delete(key);
        done.resolve();
      }
    },
  };
}

async function untilDone(others: Iterable<Promise<void>>, callerGone: AbortSignal): Promise<void> {
  const gone = Promise.withResolvers<never>();
  const leave = () => gone.reject(new ClientDisconnectedError());
  callerGone.addEventListener("abort", leave);
  try {
    if (callerGone.aborted) throw new ClientDisconnectedError();
    await Promise.race([Promise.all(others), gone.promise]);
  } finally {
    callerGone.removeEventListener("abort", leave);
  }
}
