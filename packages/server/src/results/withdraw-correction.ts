import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { recount } from "./correct-result.ts";
import { deleteCorrection, selectCountedWithout, selectLatestCorrection } from "./corrections-store.ts";
import type { StoredResult } from "./evaluation-record.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { lockResult } from "./write/countable-results-store.ts";
import { findResult, noSuchResult } from "./write/find-result.ts";
import { addCounted } from "./write/result-counts-store.ts";

/** Takes back the latest correction of a result, if it is the user's own. The verdict from before it counts again. */
export async function withdrawCorrection(
  services: Pick<EvaluationServices, "store" | "folder">,
  requester: Changer,
  withdrawal: { userId: string; resultId: number },
): Promise<StoredResult> {
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      await takeBack(transaction, requester.accountId, withdrawal);
      await recordChange(transaction, requester, {
        action: "evaluation_result.withdraw_correction",
        objectId: String(withdrawal.resultId),
      });
    });
  services.folder.schedule();
  return await findResult(services, requester, withdrawal.resultId);
}

async function takeBack(
  transaction: Database,
  accountId: string,
  { userId, resultId }: { userId: string; resultId: number },
): Promise<void> {
  const locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw noSuchResult();
  const latest = await selectLatestCorrection(transaction, resultId);
  if (latest?.user_id !== userId) {
    throw new ServiceError(
      "not_found",
      "The latest correction of the result is not yours, or there is none.",
    );
  }
  const { pass, score } = await selectCountedWithout(transaction, resultId, latest.id);
  await deleteCorrection(transaction, { id: latest.id, resultId, pass, score });
  const outcome = {
    status: "success" as const,
    pass: pass === null ? undefined : pass === 1,
    score: score ?? undefined,
  };
  await addCounted(transaction, recount([locked.counted], [{ ...locked.counted, outcome }]));
}
