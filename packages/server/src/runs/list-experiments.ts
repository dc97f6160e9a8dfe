import { type Pieces, readInPieces, refuseLargePage } from "../platform/storage/read-in-pieces.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import {
  type ExperimentPage,
  type ExperimentRow,
  selectExperimentSizes,
  selectExperimentsByIds,
} from "./experiments-store.ts";

/** One page of an account's experiments, newest first. */
export async function listExperiments(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  page: ExperimentPage,
): Promise<Pieces<ExperimentRow>> {
  const { accountId } = requester;
  const reader = store.briefReader(requester);
  const sizes = await selectExperimentSizes(reader, accountId, page);
  refuseLargePage(
    sizes.map(({ bytes }) => bytes),
    "experiments",
    "Ask for fewer experiments with limit.",
  );
  const ids = sizes.map(({ id }) => id);
  const bytesOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  return readInPieces(ids, bytesOf, async (some) => {
    const read = await selectExperimentsByIds(reader, accountId, some);
    const byId = new Map(read.map((experiment) => [experiment.id, experiment]));
    return some.flatMap((id) => byId.get(id) ?? []);
  });
}
