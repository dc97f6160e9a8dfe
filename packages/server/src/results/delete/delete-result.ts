import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { noSuchResult } from "../write/find-result.ts";
import { deleteResultRows, selectCandidatesOf } from "./deleted-results-store.ts";

/** Deletes one result of the account, with its corrections. Those of a run stay as long as that does. */
export async function deleteResult(
  { store, folder }: Pick<EvaluationServices, "store" | "folder">,
  requester: Changer,
  id: number,
): Promise<void> {
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const [found] = await selectCandidatesOf(transaction, requester.accountId, [id]);
      if (found === undefined) throw noSuchResult();
      if (found.isOfRun)
        throw new ServiceError(
          "conflict",
          "This result belongs to a run or an experiment, whose figures it is part of. Delete the run first.",
        );
      // It may have been deleted since.
      if ((await deleteResultRows(transaction, [id])) === 0) throw noSuchResult();
      const change = { action: "evaluation_result.delete", objectId: String(id) } as const;
      await recordChange(transaction, requester, change);
    });
  folder.schedule();
}
