import type { RoomForBytes } from "../../platform/limits/memory.ts";
import type { Store } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import { headlineMemoryBytes, makeHeadline } from "./headline.ts";
import { keepHeadline, selectRunWithoutHeadline } from "./headlines-store.ts";

export interface HeadlineKeeper {
  /** Makes the headlines of runs that have ended, one after the other, until none lacks one. */
  look(): void;
  stop(): Promise<void>;
}

/** Other processes may make the same one: the figures are equal. */
export function keepHeadlines(
  { store, room }: { store: Store; room: RoomForBytes },
  onError: (error: unknown) => void,
): HeadlineKeeper {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Runs whose headline cannot be made: they are not tried again. */
  const failed = new Set<string>();
  let isLooking = false;
  let looking: Promise<void> = Promise.resolve();

  async function makeAll(): Promise<void> {
    while (!signal.aborted) {
      const run = await selectRunWithoutHeadline(store.database, failed);
      if (run === undefined) return;
      const giveBack = await room.take(headlineMemoryBytes(run), signal);
      try {
        const requester = { accountId: run.account_id, signal };
        const headline = await makeHeadline({ store }, requester, run);
        await keepHeadline(store.writer(requester), run, headline);
      } catch (error) {
        if (signal.aborted || isStoreUnavailable(error)) throw error;
        failed.add(run.id);
        onError(error);
      } finally {
        giveBack();
      }
    }
  }

  return {
    look() {
      if (isLooking || signal.aborted) return;
      isLooking = true;
      looking = makeAll()
        .catch((error: unknown) => {
          if (!signal.aborted) onError(error);
        })
        .finally(() => {
          isLooking = false;
        });
    },
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}
