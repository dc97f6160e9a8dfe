import type { KeysetPage, ListPart } from "../../storage/keyset.ts";
import type { Requester } from "../../storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import type { Run } from "./run.ts";
import { type RunFilter, selectRuns } from "./runs-store.ts";

/** One page of an account's runs, newest first. */
export async function listRuns(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  filter: RunFilter,
  page: KeysetPage,
): Promise<ListPart<Run>> {
  return await selectRuns(store.briefReader(requester), requester.accountId, filter, page);
}
