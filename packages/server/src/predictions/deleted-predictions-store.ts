import { sql } from "kysely";
import { type DeletedBatch, inTimedTransaction } from "../platform/storage/batches.ts";
import type { Micros } from "../platform/storage/columns.ts";
import type { PredictionsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { type PredictionFilter, rangesOf, selectRange } from "./stored-predictions-store.ts";

/** Which live predictions are deleted. */
export interface DeletedPredictions {
  /** All accounts if absent. */
  accountId: string | undefined;
  before: Micros;
  /** A filter within one account; all of its predictions if absent. */
  filter?: Omit<PredictionFilter, "source" | "run_id" | "to">;
}

/** Deletes live predictions from before a time, at most `limit`, the oldest of each status first. `record` is called in the same transaction. */
export async function deleteOldest(
  database: Database,
  deleted: DeletedPredictions,
  limit: number,
  record?: (transaction: Database, deleted: number) => Promise<void>,
): Promise<DeletedBatch<true>> {
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
  return { deleted: result, heldMs, next: result === limit ? true : undefined };
}

/** Deletes some live predictions of all accounts from before a time. Predictions of a run or an episode stay as long as it does. */
export async function deleteOldPredictions(
  database: Database,
  before: Micros,
  limit: number,
): Promise<DeletedBatch<true>> {
  return await deleteOldest(database, { accountId: undefined, before }, limit);
}

/** On PostgreSQL, skips rows that another deletion has locked. */
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
export async function deletePredictions(transaction: Database, accountId: string, ids: readonly string[]) {
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
  // A transaction that stores a prediction with one of them has either committed, so that it is seen below, or waits.
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

async function deleteUnnamedContexts(transaction: Database, { accountId, digests }: SomeContexts) {
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

/** What made a prediction. No other transaction deletes the prediction until this one ends. */
export async function lockPrediction(
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
