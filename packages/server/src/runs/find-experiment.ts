import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { type ExperimentRow, selectExperiment } from "./experiments-store.ts";

export async function findExperiment(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  id: string,
): Promise<ExperimentRow> {
  const experiment = await selectExperiment(store.briefReader(requester), requester.accountId, id);
  if (experiment === undefined) throw noSuchExperiment();
  return experiment;
}

export function noSuchExperiment(): ServiceError {
  return new ServiceError("not_found", "There is no such experiment.");
}
