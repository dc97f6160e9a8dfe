import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { discardRun } from "./deleted-runs-store.ts";
import { noSuchRun } from "./find-run.ts";
import type { RunServices } from "./run-services.ts";

/** Deletes a run with its predictions and verdicts, a few at a time. Its evaluation results stay. */
export async function deleteRun(
  services: Pick<EvaluationServices, "store"> & { runs: Pick<RunServices, "wake"> },
  requester: Changer,
  id: string,
): Promise<void> {
  const { accountId } = requester;
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      if (!(await discardRun(transaction, accountId, id))) throw noSuchRun();
      await recordChange(transaction, requester, { action: "run.delete", objectId: id });
    });
  services.runs.wake();
}
