import type { DatasetChange } from "@presage/contract";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { insertDataset, type StoredDataset, selectDataset } from "./datasets-store.ts";
import { noSuchDataset } from "./find-dataset.ts";

export interface NewDataset {
  name: string;
  description: string | undefined;
  tags: Readonly<Record<string, string>> | undefined;
  change?: DatasetChange | undefined;
  userId: string;
}

export async function createDataset(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  { name, description, tags, change, userId }: NewDataset,
  once?: Once,
): Promise<StoredDataset> {
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const dataset = {
        id: Bun.randomUUIDv7(),
        name,
        description: description ?? null,
        tags: tags === undefined ? null : JSON.stringify(tags),
        change: change === undefined ? null : JSON.stringify(change),
        last_revision: 0,
        created_by: userId,
        created_at: nowMicros(),
      };
      if (!(await insertDataset(transaction, { ...dataset, account_id: accountId })))
        throw new ServiceError("conflict", `There is already a dataset named ${JSON.stringify(name)}.`);
      await recordChange(transaction, requester, {
        action: "dataset.create",
        objectId: dataset.id,
        detail: { name },
      });
      return dataset;
    },
    toReceipt: ({ id }) => ({ id }),
    async recall({ id }) {
      const dataset = await selectDataset(store.database, accountId, id);
      if (dataset === undefined) throw noSuchDataset();
      // It may have revisions by now. A repeated request has the response of the first.
      return { ...dataset, last_revision: 0 };
    },
  });
}
