import { ServiceError } from "../platform/errors.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { type StoredDataset, selectDataset } from "./datasets-store.ts";
import { type Revision, selectLatestRevisions, selectRevision } from "./revisions-store.ts";

export interface DatasetWithRevision {
  dataset: StoredDataset;
  latest: Revision | undefined;
}

type Services = Pick<EvaluationServices, "store">;

export async function findDataset(
  { store }: Services,
  requester: Requester,
  id: string,
): Promise<DatasetWithRevision> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw noSuchDataset();
  return { dataset, latest: (await selectLatestRevisions(reader, [dataset])).get(id) };
}

/** A revision of a dataset by its number, or the latest. */
export async function findRevision(
  { store }: Services,
  requester: Requester,
  { id, number }: { id: string; number: number | undefined },
): Promise<Revision> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw noSuchDataset();
  const revision = await selectRevision(reader, id, number);
  if (revision !== undefined) return revision;
  const message =
    number === undefined ? "The dataset has no revision yet." : `The dataset has no revision ${number}.`;
  throw new ServiceError("not_found", message);
}

/** What was read of a revision; throws if it was deleted meanwhile, as some of it may have been missing. */
export async function unlessDeleted<Found>(
  reading: Promise<Found>,
  services: Services,
  requester: Requester,
  wanted: { id: string; number: number | undefined },
): Promise<Found> {
  const found = await reading;
  await findRevision(services, requester, wanted);
  return found;
}

export function noSuchDataset(): ServiceError {
  return new ServiceError("not_found", "There is no such dataset.");
}
