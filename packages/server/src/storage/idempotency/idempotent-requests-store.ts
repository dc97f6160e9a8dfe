import { isPostgres } from "../is-postgres.ts";
import { type Micros, microsPerMs, nowMicros } from "../micros.ts";
import type { Database } from "../schema/tables.ts";
import { type Once, ReusedKeyError } from "./once.ts";

/** How long a request is remembered: far longer than any client goes on trying. */
const rememberedForMs = 24 * 60 * 60_000;
/** More than one, so that the table shrinks after a busy time. */
const clearedAtOnce = 20;

/**
 * Notes a request with its receipt, unless it was noted before: then that receipt is returned. Whoever notes it first
 * makes its twins wait for the end of the transaction.
 */
export async function noteRequest(
  transaction: Database,
  { id, requestDigest }: Once,
  receipt: string,
): Promise<string | undefined> {
  const now = nowMicros();
  const noted = await transaction
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
  if (noted !== undefined) return undefined;
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

/** Deletes some of the requests that need not be remembered any more, the oldest first. */
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
        .limit(clearedAtOnce)
        // Another process clears those away.
        .$if(isPostgres(database), (query) => query.forUpdate().skipLocked()),
    )
    .where("created_at", "<=", until)
    .execute();
}

function forgottenUntil(now: Micros): Micros {
  return now - rememberedForMs * microsPerMs;
}
