import { isPostgres } from "../is-postgres.ts";
import { type Micros, microsPerMs, nowMicros } from "../micros.ts";
import type { Database } from "../schema/tables.ts";
import { type Once, ReusedKeyError } from "./once.ts";

/** Far longer than any client retries. */
const rememberedForMs = 24 * 60 * 60_000;
/** More than one per request, so that the table shrinks after a busy time. */
const deletedAtOnce = 20;

/**
 * Records a request with its receipt, or returns the receipt if it was recorded before. Duplicates wait until the transaction of
 * the first ends.
 */
export async function recordRequest(
  transaction: Database,
  { id, requestDigest }: Once,
  receipt: string,
): Promise<string | undefined> {
  const now = nowMicros();
  const recorded = await transaction
    .insertInto("idempotent_requests")
    .values({ id, request_digest: requestDigest, receipt, created_at: now })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ request_digest: requestDigest, receipt, created_at: now })
        .where("idempotent_requests.created_at", "<=", forgottenUntil(now)),
    )
    .returning("id")
    .executeTakeFirst();
  if (recorded !== undefined) return undefined;
  const earlier = await transaction
    .selectFrom("idempotent_requests")
    .select(["request_digest", "receipt"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  if (earlier.request_digest !== requestDigest) throw new ReusedKeyError();
  return earlier.receipt;
}

export async function writeReceipt(transaction: Database, id: string, receipt: string): Promise<void> {
  await transaction.updateTable("idempotent_requests").set({ receipt }).where("id", "=", id).execute();
}

/** Deletes some of the expired requests, the oldest first. */
export async function forgetOldRequests(database: Database): Promise<void> {
  const until = forgottenUntil(nowMicros());
  await database
    .deleteFrom("idempotent_requests")
    .where("id", "in", (old) =>
      old
        .selectFrom("idempotent_requests")
        .select("id")
        .where("created_at", "<=", until)
        .orderBy("created_at")
        .limit(deletedAtOnce)
        // Another process is deleting locked ones.
        .$if(isPostgres(database), (query) => query.forUpdate().skipLocked()),
    )
    .where("created_at", "<=", until)
    .execute();
}

function forgottenUntil(now: Micros): Micros {
  return now - rememberedForMs * microsPerMs;
}
