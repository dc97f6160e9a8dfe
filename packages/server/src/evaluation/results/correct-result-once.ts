import { doOnce } from "../../storage/idempotency/do-once.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { Database } from "../../storage/tables.ts";
import { correctResult, type NewCorrection } from "./correct-result.ts";
import type { Correction, KeptResult } from "./evaluation-record.ts";
import { findResult } from "./find-result.ts";

/** Corrects a result, or finds it with the correction that the same request made before. */
export async function correctResultOnce(
  database: Database,
  reader: Database,
  accountId: string,
  newCorrection: NewCorrection,
  once: Once | undefined,
): Promise<KeptResult> {
  return await doOnce<KeptResult, { correction?: Correction }>(database, once, {
    work: (transaction) => correctResult(transaction, accountId, newCorrection),
    toReceipt: ({ correction }) => (correction === undefined ? {} : { correction }),
    async recall(receipt) {
      return { ...(await findResult(reader, accountId, newCorrection.resultId)), ...receipt };
    },
  });
}
