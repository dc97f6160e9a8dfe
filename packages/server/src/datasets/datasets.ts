import type { Dataset, DatasetCreateRequest, DatasetRevision } from "@presage/contract";
import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import {
  type Keyset,
  type KeysetPage,
  type NumberedPage,
  toNumberedPart,
} from "../platform/storage/lists.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { countOf } from "../platform/words.ts";
import {
  countRunsOf,
  deleteDatasetRow,
  discardRevisions,
  discardRunsOf,
  insertDataset,
  lockDataset,
  type Revision,
  type StoredDataset,
  selectDataset,
  selectDatasets,
  selectLatestRevisions,
  selectRevision,
  selectRevisions,
  updateLastRevision,
  withdrawRevision,
} from "./datasets-store.ts";

interface ShownDataset extends StoredDataset {
  latest: Revision | undefined;
}

export function toDataset(dataset: ShownDataset): Dataset {
  const { tags, change, latest } = dataset;
  return {
    id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    tags: tags === null ? null : (JSON.parse(tags) as Dataset["tags"]),
    change: change === null ? null : (JSON.parse(change) as Dataset["change"]),
    latest_revision: latest === undefined ? null : toDatasetRevision(latest),
    created_by: dataset.created_by,
    created_at: toIsoInstant(dataset.created_at),
  };
}

export function toDatasetRevision({
  number,
  digest,
  samples,
  trajectories,
  bytes,
  created_at,
  warnings,
  import: read,
}: Revision): DatasetRevision {
  return {
    revision: number,
    digest,
    samples,
    trajectories,
    bytes,
    created_at: toIsoInstant(created_at),
    warnings,
    import: read === null ? null : (JSON.parse(read) as DatasetRevision["import"]),
  };
}

export async function findDataset(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<ShownDataset> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw notFound("dataset");
  return { ...dataset, latest: (await selectLatestRevisions(reader, [dataset])).get(id) };
}

/** A dataset by name or id. */
export async function findNamedDataset(
  { store }: { store: Store },
  { accountId, ...requester }: Requester,
  nameOrId: string,
): Promise<StoredDataset | undefined> {
  const reader = store.briefReader({ accountId, ...requester });
  const named = await selectDataset(reader, accountId, nameOrId, "name");
  return named ?? (await selectDataset(reader, accountId, nameOrId));
}

/** A revision of a dataset by number, or the latest. */
export interface WantedRevision {
  id: string;
  number: number | undefined;
}

export async function findRevision(
  { store }: { store: Pick<Store, "briefReader"> },
  requester: Requester,
  { id, number }: WantedRevision,
): Promise<Revision> {
  const reader = store.briefReader(requester);
  const dataset = await selectDataset(reader, requester.accountId, id);
  if (dataset === undefined) throw notFound("dataset");
  const revision = await selectRevision(reader, id, number);
  if (revision !== undefined) return revision;
  const message =
    number === undefined ? "The dataset has no revision yet." : `The dataset has no revision ${number}.`;
  throw new ServiceError("not_found", message);
}

/** What was read of a revision; throws if the revision was deleted meanwhile, since rows may have been missing. */
export async function unlessDeleted<Found>(
  reading: Promise<Found>,
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
): Promise<Found> {
  const found = await reading;
  await findRevision(services, requester, wanted);
  return found;
}

export async function createDataset(
  { store }: { store: Store },
  requester: Changer,
  { name, description, tags, change, userId }: DatasetCreateRequest & { userId: string },
  once?: Once,
): Promise<StoredDataset> {
  const { accountId } = requester;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const dataset = {
        id: Bun.randomUUIDv7(),
        name,
        description: description ?? null,
        tags: tags ? JSON.stringify(tags) : null,
        change: change ? JSON.stringify(change) : null,
        last_revision: 0,
        created_by: userId,
        created_at: nowMicros(),
      };
      if (!(await insertDataset(transaction, { ...dataset, account_id: accountId })))
        throw conflict(`There is already a dataset named ${JSON.stringify(name)}.`);
      await recordChange(transaction, requester, "dataset.create", dataset.id, { name });
      return dataset;
    },
    toReceipt: ({ id }) => ({ id }),
    async recall({ id }) {
      const dataset = await selectDataset(store.database, accountId, id);
      if (dataset === undefined) throw notFound("dataset");
      // The dataset may have revisions by now. A repeated request gets the response of the first.
      return { ...dataset, last_revision: 0 };
    },
  });
}

/** Deletes a dataset, and its runs if wanted. Its samples become invisible immediately; the sweeper deletes their rows, a few at a time. */
export async function deleteDataset(
  { store, forgetRevisions }: { store: Store; forgetRevisions?: (ids: readonly number[]) => void },
  requester: Changer,
  { id, withRuns }: { id: string; withRuns: boolean },
): Promise<void> {
  const { accountId } = requester;
  const revisionIds = await inTransaction(store, requester, async (transaction) => {
    // A revision that is being sealed is either sealed before this lock, or finds no dataset.
    const dataset = await lockDataset(transaction, accountId, id);
    if (dataset === undefined) throw notFound("dataset");
    const runs = withRuns ? 0 : await countRunsOf(transaction, accountId, id);
    if (runs > 0)
      throw conflict(
        `${countOf(runs, "run")} of the dataset would lose what they are about. Delete them first, or send with_runs=true.`,
      );
    await discardRunsOf(transaction, accountId, id);
    const discarded = await discardRevisions(transaction, id);
    await deleteDatasetRow(transaction, accountId, id);
    await recordChange(transaction, requester, "dataset.delete", id, {
      name: dataset.name,
      with_runs: withRuns,
    });
    return discarded;
  });
  forgetRevisions?.(revisionIds);
}

/** Takes back the latest revision of a dataset, unless something was made of it already. */
export async function removeRevision(
  { store, forgetRevisions }: { store: Store; forgetRevisions?: (ids: readonly number[]) => void },
  requester: Changer,
  { datasetId, revision }: { datasetId: string; revision: Pick<Revision, "id" | "number"> },
): Promise<void> {
  const isRemoved = await inTransaction(store, requester, async (transaction) => {
    const dataset = await lockDataset(transaction, requester.accountId, datasetId);
    if (dataset?.last_revision !== revision.number) return false;
    if (!(await withdrawRevision(transaction, revision.id))) return false;
    await updateLastRevision(transaction, datasetId, revision.number - 1);
    await recordChange(transaction, requester, "dataset.remove_revision", datasetId, {
      name: dataset.name,
      revision: revision.number,
    });
    return true;
  });
  if (isRemoved) forgetRevisions?.([revision.id]);
}

/** A page of an account's datasets, newest first, each with its latest revision. */
export async function listDatasets(
  { store }: { store: Store },
  requester: Requester,
  page: KeysetPage,
): Promise<{ datasets: ShownDataset[]; next: Keyset | undefined }> {
  const reader = store.briefReader(requester);
  const { rows, next } = await selectDatasets(reader, requester.accountId, page);
  const latest = await selectLatestRevisions(reader, rows);
  return { datasets: rows.map((dataset) => ({ ...dataset, latest: latest.get(dataset.id) })), next };
}

/** A page of a dataset's revisions below a number, the highest first. */
export async function listRevisions(
  services: { store: Store },
  requester: Requester,
  id: string,
  page: NumberedPage,
): Promise<{ rows: Revision[]; next: string | null }> {
  await findDataset(services, requester, id);
  const reader = services.store.briefReader(requester);
  return toNumberedPart(await selectRevisions(reader, id, page), page, ({ number }) => number);
}
