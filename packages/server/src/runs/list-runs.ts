import type { KeysetPage, ListPart } from "../platform/storage/keyset.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { withExternalCounts } from "./external/with-external-counts.ts";
import type { Run } from "./run.ts";
import { type RunFilter, selectRuns } from "./runs-store.ts";

/** One page of an account's runs, newest first. */
export async function listRuns(
  services: Pick<EvaluationServices, "store" | "externalCounts">,
  requester: Requester,
  filter: RunFilter,
  page: KeysetPage,
): Promise<ListPart<Run>> {
  const reader = services.store.briefReader(requester);
  const { rows, next } = await selectRuns(reader, requester.accountId, filter, page);
  return { rows: await withExternalCounts(services, requester, rows), next };
}
