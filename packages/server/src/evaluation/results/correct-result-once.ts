import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { Database } from "../../storage/tables.ts";
import { correctResult, type NewCorrection } from "./correct-result.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { findResult } from "./find-result.ts";

/** Corrects a result, or finds it with the correction that the same request made before, whatever was said since. */
export async function correctResultOnce(
  database: Database,
  reader: Database,
  accountId: string,
  newCorrection: NewCorrection,
  once: Once | undefined,
): Promise<KeptResult> {
  const { resultId, pass, score = Number(pass), comment } = newCorrection;
  return await doOnce(database, once, {
    work: (transaction) => correctResult(transaction, accountId, newCorrection),
    toReceipt: ({ correction }) => ({ createdAt: correction?.createdAt ?? 0 }),
    // The same request says the same; what it did not say is when it came first.
    async recall({ createdAt }) {
      const result = await findResult(reader, accountId, resultId);
      return { ...result, correction: { pass, score, comment, createdAt } };
    },
  });
}
