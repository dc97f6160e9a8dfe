import type { Changer } from "../platform/actor.ts";
import { countOf } from "../platform/count-of.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { countRunsOf, discardRunsOf } from "../runs/deleted-runs-store.ts";
import { deleteDatasetRow, lockDataset } from "./datasets-store.ts";
import { noSuchDataset } from "./find-dataset.ts";
import { discardRevisions } from "./revisions-store.ts";

/** Deletes a dataset, and its runs if wanted. Its samples are invisible at once, and their rows are deleted a few at a time by the sweeper. */
export async function deleteDataset(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { id, withRuns }: { id: string; withRuns: boolean },
): Promise<void> {
  const { accountId } = requester;
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      // A revision that is being sealed is either sealed before this, or finds no dataset.
      const dataset = await lockDataset(transaction, accountId, id);
      if (dataset === undefined) throw noSuchDataset();
      const runs = withRuns ? 0 : await countRunsOf(transaction, accountId, id);
      if (runs > 0)
        throw new ServiceError(
          "conflict",
          `${countOf(runs, "run")} of the dataset would lose what they are about. Delete them first, or send with_runs=true.`,
        );
      await discardRunsOf(transaction, accountId, id);
      await discardRevisions(transaction, id);
      await deleteDatasetRow(transaction, accountId, id);
      await recordChange(transaction, requester, {
        action: "dataset.delete",
        objectId: id,
        detail: { name: dataset.name, with_runs: withRuns },
      });
    });
}
