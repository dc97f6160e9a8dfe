import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { type ExperimentRow, replaceMetadata } from "./experiments-store.ts";
import { noSuchExperiment } from "./find-experiment.ts";

/** Replaces an experiment's metadata. */
export async function updateExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Changer,
  id: string,
  metadata: Readonly<Record<string, unknown>>,
): Promise<ExperimentRow> {
  const json = JSON.stringify(metadata);
  return await store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      const updated = await replaceMetadata(transaction, requester.accountId, id, json);
      if (updated === undefined) throw noSuchExperiment();
      await recordChange(transaction, requester, {
        action: "experiment.update",
        objectId: id,
        detail: { name: updated.name },
      });
      return updated;
    });
}
