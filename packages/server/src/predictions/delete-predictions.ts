import { setTimeout as sleep } from "node:timers/promises";
import type { Changer } from "../platform/actor.ts";
import { updateAuditDetail } from "../platform/audit-events-store.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  type DeletedPredictions,
  deleteOldest,
  deletePredictions,
  lockPrediction,
} from "./deleted-predictions-store.ts";
import { noSuchPrediction } from "./find-prediction.ts";

/** Few, because SQLite has one writer, and longer than others pause between two attempts at its file. */
const batchRows = 200;
const batchPauseMs = 12;
/** How long one request deletes. */
const maxDurationMs = 5_000;

/** Deletes one prediction. Those of a run or an episode stay as long as that does. */
export async function deletePrediction(
  { store }: { store: Store },
  requester: Changer,
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
      await recordChange(transaction, requester, { action: "prediction.delete", objectId: id });
    });
}

/** Deletes an account's live predictions from before a time that match, a few at a time, for some seconds. */
export async function deletePredictionsBefore(
  { store }: { store: Store },
  requester: Changer,
  wanted: Omit<DeletedPredictions, "accountId">,
): Promise<{ deleted: number; hasMore: boolean }> {
  const { accountId, signal } = requester;
  const database = store.writer(requester);
  const endsAtMs = performance.now() + maxDurationMs;
  let deleted = 0;
  let eventId: string | undefined;

  /** One event for the request, which counts what its transactions have deleted. */
  async function record(transaction: Database, some: number): Promise<void> {
    const detail = { before: toIsoInstant(wanted.before), ...wanted.filter, deleted: deleted + some };
    if (eventId !== undefined) return await updateAuditDetail(transaction, eventId, detail);
    const change = { action: "prediction.delete", objectId: "many", detail } as const;
    eventId = await recordChange(transaction, requester, change);
  }

  for (;;) {
    const some = await deleteOldest(database, { ...wanted, accountId }, batchRows, record);
    deleted += some.deleted;
    if (some.deleted < batchRows) return { deleted, hasMore: false };
    if (performance.now() > endsAtMs) return { deleted, hasMore: true };
    await sleep(batchPauseMs);
    signal.throwIfAborted();
  }
}
