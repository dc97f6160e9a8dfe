import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { type Experiment, replaceMetadata } from "./experiments-store.ts";
import { noSuchExperiment } from "./find-experiment.ts";

/** Replaces an experiment's metadata. */
export async function updateExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: string,
  metadata: Readonly<Record<string, unknown>>,
): Promise<Experiment> {
  const writer = store.writer(requester);
  const updated = await replaceMetadata(writer, requester.accountId, id, JSON.stringify(metadata));
  if (updated === undefined) throw noSuchExperiment();
  return updated;
}
