import { ReusedKeyError } from "../errors.ts";
import { microsPerMs, nowMicros } from "./columns.ts";
import { insertRows } from "./rows.ts";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

/** A request with an `Idempotency-Key`: it takes effect once, however often it arrives. */
export interface Once {
  /** A digest of the caller, the operation and the caller's `Idempotency-Key`. */
  id: string;
  /** A digest of the rest of the request. */
  requestDigest: string;
}

/** Far longer than any client retries. */
const rememberedForMs = 24 * 60 * 60_000;
/** More than one per request, so that the table shrinks after a busy time. */
const deletedAtOnce = 20;

const unlessRemembered = `
  on conflict (id) do update
  set request_digest = excluded.request_digest, receipt = excluded.receipt, created_at = excluded.created_at
  where idempotent_requests.created_at <= excluded.created_at - ${rememberedForMs * microsPerMs}
  returning id`;

/**
 * Records requests with their receipts, each unless it was recorded before. Returns those that were recorded. Duplicates wait until the
 * transaction of the first ends.
 */
export async function recordRequests<Request extends Once & { receipt: string }>(
  transaction: Database,
  requests: readonly Request[],
): Promise<ReadonlySet<Request>> {
  // The first of several duplicates counts.
  const first = new Map(requests.toReversed().map((request) => [request.id, request]));
  // Always in the same order, so that no two transactions wait for each other.
  const sorted = [...first.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const now = nowMicros();
  const rows = sorted.map(({ id, requestDigest, receipt }) => ({
    id,
    request_digest: requestDigest,
    receipt,
    created_at: now,
  }));
  const recorded = await insertRows(transaction, "idempotent_requests", rows, unlessRemembered);
  const ids = new Set(recorded.map(({ id }) => id));
  return new Set(sorted.filter(({ id }) => ids.has(id)));
}

/** Records a request with its receipt, or returns the receipt if it was recorded before. */
export async function recordRequest(
  transaction: Database,
  { id, requestDigest }: Once,
  receipt: string,
): Promise<string | undefined> {
  const recorded = await recordRequests(transaction, [{ id, requestDigest, receipt }]);
  return recorded.size > 0 ? undefined : await findReceipt(transaction, { id, requestDigest });
}

/** The receipt of a request that was made before, even if what it made is gone since. Undefined if the request is new. */
async function findReceipt(database: Database, { id, requestDigest }: Once): Promise<string | undefined> {
  const earlier = await database
    .selectFrom("idempotent_requests")
    .select(["request_digest", "receipt"])
    .where("id", "=", id)
    .where("created_at", ">", nowMicros() - rememberedForMs * microsPerMs)
    .executeTakeFirst();
  if (earlier === undefined) return undefined;
  if (earlier.request_digest !== requestDigest) throw new ReusedKeyError();
  return earlier.receipt;
}

/** The result of an equal earlier request, to be recalled before anything is checked that may have changed since. */
export async function recallEarlier<Result, Receipt>(
  database: Database,
  once: Once | undefined,
  recall: (receipt: Receipt) => Promise<Result>,
): Promise<Result | undefined> {
  const receipt = once && (await findReceipt(database, once));
  // The receipt was written as this type.
  return receipt === undefined ? undefined : await recall(JSON.parse(receipt) as Receipt);
}

/** Deletes some of the expired requests, the oldest first, after this many new ones. */
export async function forgetOldRequests(database: Database, requests = 1): Promise<void> {
  const until = nowMicros() - rememberedForMs * microsPerMs;
  await database
    .deleteFrom("idempotent_requests")
    .where("id", "in", (old) =>
      old
        .selectFrom("idempotent_requests")
        .select("id")
        .where("created_at", "<=", until)
        .orderBy("created_at")
        .limit(deletedAtOnce * requests)
        // Another process is deleting locked ones.
        .$if(isPostgres(database), (query) => query.forUpdate().skipLocked()),
    )
    .where("created_at", "<=", until)
    .execute();
}

interface OnceWork<Result, Receipt> {
  /** If it rejects, no change is made and no request remembered. */
  work(transaction: Database): Promise<Result>;
  /** The data stored as JSON to recreate the result: ids rather than texts, and no secrets. */
  toReceipt(result: Result): Receipt | Promise<Receipt>;
  recall(receipt: Receipt): Promise<Result>;
}

/**
 * Does work in a transaction, or recalls the result if the request was made before. The receipt is committed together with the
 * work, so that a crash cannot separate them. Duplicates that arrive at the same time wait for the first.
 */
export async function doOnce<Result, Receipt>(
  database: Database,
  once: Once | undefined,
  { work, toReceipt, recall }: OnceWork<Result, Receipt>,
): Promise<Result> {
  if (once === undefined) return await database.transaction().execute(work);
  const done = await database.transaction().execute(async (transaction) => {
    const receipt = await recordRequest(transaction, once, "");
    if (receipt !== undefined) return { receipt };
    const result = await work(transaction);
    const written = JSON.stringify(await toReceipt(result));
    await transaction
      .updateTable("idempotent_requests")
      .set({ receipt: written })
      .where("id", "=", once.id)
      .execute();
    return { result };
  });
  // The receipt was written as this type.
  if ("receipt" in done) return await recall(JSON.parse(done.receipt) as Receipt);
  // In the background. If it fails, a later request deletes them.
  void forgetOldRequests(database).catch(() => {});
  return done.result;
}
