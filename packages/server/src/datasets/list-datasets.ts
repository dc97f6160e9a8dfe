import type { Keyset, KeysetPage } from "../platform/storage/keyset.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { selectDatasets } from "./datasets-store.ts";
import { type DatasetWithRevision, findDataset } from "./find-dataset.ts";
import { type Revision, selectLatestRevisions, selectRevisions } from "./revisions-store.ts";

type Services = Pick<EvaluationServices, "store">;

/** One page of an account's datasets, newest first, with the latest revision of each. */
export async function listDatasets(
  { store }: Services,
  requester: Requester,
  page: KeysetPage,
): Promise<{ datasets: DatasetWithRevision[]; next: Keyset | undefined }> {
  const reader = store.briefReader(requester);
  const { rows, next } = await selectDatasets(reader, requester.accountId, page);
  const latest = await selectLatestRevisions(reader, rows);
  return { datasets: rows.map((dataset) => ({ dataset, latest: latest.get(dataset.id) })), next };
}

/** One page of a dataset's revisions below a number, the highest first. */
export async function listRevisions(
  services: Services,
  requester: Requester,
  id: string,
  { limit, below }: { limit: number; below: number | undefined },
): Promise<{ revisions: Revision[]; next: number | undefined }> {
  const { dataset } = await findDataset(services, requester, id);
  const reader = services.store.briefReader(requester);
  const found = await selectRevisions(reader, dataset.id, { limit: limit + 1, below });
  const revisions = found.slice(0, limit);
  return { revisions, next: found.length > limit ? revisions.at(-1)?.number : undefined };
}
