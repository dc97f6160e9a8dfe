import { forgetOldRequests, recordRequest, writeReceipt } from "./idempotent-requests-store.ts";
import type { Once } from "./once.ts";
import type { Database } from "./schema/tables.ts";

export interface OnceWork<Result, Receipt> {
  /** If it rejects, nothing is done and nothing remembered. */
  work(transaction: Database): Promise<Result>;
  /** What is stored as JSON to recreate the result: ids rather than texts, and no secrets. */
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
    await writeReceipt(transaction, once.id, JSON.stringify(await toReceipt(result)));
    return { result };
  });
  // It was written as this type.
  if ("receipt" in done) return await recall(JSON.parse(done.receipt) as Receipt);
  // In the background. If it fails, a later request deletes them.
  void forgetOldRequests(database).catch(() => {});
  return done.result;
}
