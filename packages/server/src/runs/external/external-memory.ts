import type { Requester } from "../../platform/storage/reader.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { isExternal, type Run } from "../run.ts";
import { countResults } from "./external-results-store.ts";

/** A result, and a sample's names and tags where it has one of its own. */
const bytesPerResult = 500;
/** Names of samples, by which runs of datasets are matched with external ones. */
const bytesPerName = 200;

/** The memory that a report or a comparison takes for the external ones of these runs. */
export async function externalMemoryBytes(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  runs: readonly Run[],
): Promise<number> {
  if (!runs.some(isExternal)) return 0;
  const reader = store.reader(requester);
  let bytes = 0;
  for (const run of runs) {
    bytes += isExternal(run)
      ? (await countResults(reader, run)) * bytesPerResult
      : (run.counts.samples / run.repeats) * bytesPerName;
  }
  return bytes;
}
