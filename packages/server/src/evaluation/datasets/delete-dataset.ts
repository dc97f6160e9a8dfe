import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { deleteDatasetRow, lockDataset } from "./datasets-store.ts";
import { noSuchDataset } from "./find-dataset.ts";
import { discardRevisions } from "./revisions-store.ts";

/** Deletes a dataset. Its samples are invisible at once, and their rows are deleted a few at a time by the sweeper. */
export async function deleteDataset(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: string,
): Promise<void> {
  const { accountId } = requester;
  await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      // A revision that is being sealed is either sealed before this, or finds no dataset.
      if ((await lockDataset(transaction, accountId, id)) === undefined) throw noSuchDataset();
      await discardRevisions(transaction, id);
      await deleteDatasetRow(transaction, accountId, id);
    });
}
