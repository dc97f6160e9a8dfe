import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Changer, recordChange, updateAuditDetail } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Micros, toIsoInstant } from "../platform/storage/columns.ts";
import { type DeletedBatch, inTimedTransaction } from "../platform/storage/delete-in-batches.ts";
import type { PredictionsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres, type Store } from "../platform/storage/store.ts";
import { noSuchPrediction } from "./stored-predictions.ts";
import { type PredictionFilter, rangesOf, selectRange } from "./stored-predictions-store.ts";

/** What made a prediction. Until the transaction ends, no other one deletes it. */
async function lockPrediction(
  transaction: Database,
  accountId: string,
  id: string,
): Promise<Pick<PredictionsTable, "source"> | undefined> {
  return await transaction
    .selectFrom("predictions")
    .select("source")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .executeTakeFirst();
}

/** Which live predictions are deleted. */
export interface DeletedPredictions {
  /** Absent: of all accounts. */
  accountId: string | undefined;
  before: Micros;
  /** Of one account; absent: all of them. */
  filter?: Omit<PredictionFilter, "source" | "run_id" | "to">;
}

/**
 * Deletes live predictions from before a time, at most `limit`, the oldest of each status first. Returns how many, and how long others
 * could not write. `record` is called in the same transaction.
 */
export async function deleteOldest(
  database: Database,
  deleted: DeletedPredictions,
  limit: number,
  record?: (transaction: Database, deleted: number) => Promise<void>,
): Promise<{ deleted: number; heldMs: number }> {
  const { result, heldMs } = await inTimedTransaction(database, async (transaction) => {
    const oldest = await selectOldest(transaction, deleted, limit);
    const ofAccounts = Map.groupBy(oldest, ({ account_id }) => account_id);
    for (const [owner, some] of [...ofAccounts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await deletePredictions(
        transaction,
        owner,
        some.map(({ id }) => id),
      );
    }
    if (oldest.length > 0) await record?.(transaction, oldest.length);
    return oldest.length;
  });
  return { deleted: result, heldMs };
}

/** On PostgreSQL others that delete have the rest. */
async function selectOldest(
  transaction: Database,
  { accountId, before, filter }: DeletedPredictions,
  limit: number,
): Promise<Pick<PredictionsTable, "id" | "account_id">[]> {
  const ofAll = transaction
    .selectFrom("predictions")
    .where("source", "=", sql.lit("live"))
    .where("created_at", "<", before);
  const ranges =
    accountId === undefined
      ? [ofAll]
      : rangesOf({ ...filter, source: "live", to: before }).map((range) =>
          selectRange(transaction, accountId, range),
        );
  const oldest: Pick<PredictionsTable, "id" | "account_id">[] = [];
  for (const range of ranges) {
    if (oldest.length === limit) break;
    const some = await range
      .select(["id", "account_id"])
      .orderBy("created_at")
      .limit(limit - oldest.length)
      .$if(isPostgres(transaction), (query) => query.forUpdate().skipLocked())
      .execute();
    oldest.push(...some);
  }
  return oldest;
}

/** Deletes predictions of an account, and the contexts that no other prediction names. */
async function deletePredictions(
  transaction: Database,
  accountId: string,
  ids: readonly string[],
): Promise<void> {
  const payloads = await transaction
    .deleteFrom("prediction_payloads")
    .where("prediction_id", "in", ids)
    .returning("context_digest")
    .execute();
  await transaction.deleteFrom("predictions").where("id", "in", ids).execute();
  const digests = [...new Set(payloads.map(({ context_digest }) => context_digest))].filter(
    (digest) => digest !== null,
  );
  if (digests.length === 0) return;
  const ofAccount = { accountId, digests };
  // Whoever stores a prediction with one of them either has committed it, and it is seen below, or waits.
  if (isPostgres(transaction)) await lockContexts(transaction, ofAccount);
  await deleteUnnamedContexts(transaction, ofAccount);
}

interface SomeContexts {
  accountId: string;
  digests: readonly string[];
}

async function lockContexts(transaction: Database, { accountId, digests }: SomeContexts): Promise<void> {
  await transaction
    .selectFrom("prediction_contexts")
    .select("digest")
    .where("account_id", "=", accountId)
    .where("digest", "in", digests)
    .orderBy("digest")
    .forUpdate()
    .execute();
}

async function deleteUnnamedContexts(
  transaction: Database,
  { accountId, digests }: SomeContexts,
): Promise<void> {
  await transaction
    .deleteFrom("prediction_contexts")
    .where("account_id", "=", accountId)
    .where("digest", "in", digests)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("prediction_payloads")
            .select("prediction_id")
            .whereRef("prediction_payloads.context_digest", "=", "prediction_contexts.digest"),
        ),
      ),
    )
    .execute();
}

/** Deletes some live predictions of all accounts from before a time. Those of runs and episodes stay as long as these do. */
export async function deleteOldPredictions(
  database: Database,
  before: Micros,
  limit: number,
): Promise<DeletedBatch<true>> {
  const { deleted, heldMs } = await deleteOldest(database, { accountId: undefined, before }, limit);
  return { deleted, heldMs, next: deleted === limit ? true : undefined };
}

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
