import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";
import type { Requester } from "../../storage/reader.ts";
import type { Store } from "../../storage/store.ts";
import { noSuchPrediction } from "./find-prediction.ts";
import {
  type DeletedPredictions,
  deleteOldest,
  deletePredictions,
  lockPrediction,
} from "./kept-predictions-store.ts";

/** Few, because SQLite has one writer, and longer than others pause between two attempts at its file. */
const batchRows = 200;
const batchPauseMs = 12;
/** How long one request deletes. */
const maxDurationMs = 5_000;

/** Deletes one prediction. Those of a run or an episode stay as long as that does. */
export async function deletePrediction(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<void> {
  const { accountId } = requester;
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const found = await lockPrediction(transaction, accountId, id);
      if (found === undefined) throw noSuchPrediction();
      if (found.source !== "live")
        throw new ServiceError(
          "conflict",
          `This prediction belongs to ${found.source === "run" ? "a run" : "an episode"}. Delete the ${found.source}.`,
        );
      await deletePredictions(transaction, accountId, [id]);
    });
}

/** Deletes an account's live predictions from before a time that match, a few at a time, for some seconds. */
export async function deletePredictionsBefore(
  { store }: { store: Store },
  requester: Requester,
  wanted: Omit<DeletedPredictions, "accountId">,
): Promise<{ deleted: number; hasMore: boolean }> {
  const { accountId, signal } = requester;
  const database = store.writer(requester);
  const endsAtMs = performance.now() + maxDurationMs;
  let deleted = 0;
  for (;;) {
    const some = await deleteOldest(database, { ...wanted, accountId }, batchRows);
    deleted += some.deleted;
    if (some.deleted < batchRows) return { deleted, hasMore: false };
    if (performance.now() > endsAtMs) return { deleted, hasMore: true };
    await sleep(batchPauseMs);
    signal.throwIfAborted();
  }
}
