import type { Database } from "../schema/tables.ts";
import { forgetOldRequests, noteRequest, writeReceipt } from "./idempotent-requests-store.ts";
import type { Once } from "./once.ts";

export interface OnceWork<Answer, Receipt> {
  /** Does what is asked for. If it rejects, nothing is done and nothing remembered. */
  work(transaction: Database): Promise<Answer>;
  /** What is kept, as JSON, to give the answer again: ids rather than texts, and no secret. */
  toReceipt(answer: Answer): Receipt | Promise<Receipt>;
  recall(receipt: Receipt): Promise<Answer>;
}

/**
 * Does some work in a transaction, and of a request that came before recalls the answer instead. What is remembered of it is
 * committed with the work itself, so that no crash lies between; twins at the same moment wait for the first.
 */
export async function doOnce<Answer, Receipt>(
  database: Database,
  once: Once | undefined,
  { work, toReceipt, recall }: OnceWork<Answer, Receipt>,
): Promise<Answer> {
  if (once === undefined) return await database.transaction().execute(work);
  const done = await database.transaction().execute(async (transaction) => {
    const receipt = await noteRequest(transaction, once, "");
    if (receipt !== undefined) return { receipt };
    const answer = await work(transaction);
    await writeReceipt(transaction, once.id, JSON.stringify(await toReceipt(answer)));
    return { answer };
  });
  // It was JSON of this type when it was written.
  if ("receipt" in done) return await recall(JSON.parse(done.receipt) as Receipt);
  // Nobody waits for it, and what cannot be cleared away now is cleared away by a later one.
  void forgetOldRequests(database).catch(() => {});
  return done.answer;
}
