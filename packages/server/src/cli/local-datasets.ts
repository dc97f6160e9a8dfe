import type { OpenedStore } from "../app/compose-command-line.ts";
import type { Config } from "../config/config.ts";
import { createDataset, deleteDataset, listDatasets, listRevisions } from "../datasets/datasets.ts";
import { toDataset, toDatasetRevision } from "../datasets/datasets-route.ts";
import { sweepRevisions } from "../datasets/revisions-store.ts";
import { uploadRevision } from "../datasets/upload/upload-revision.ts";
import { noEpisodes, readEpisodeLines, toWantedEpisodes } from "../environments/make-dataset.ts";
import { UploadError } from "../platform/errors.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { diskFloorOf } from "../platform/storage/sqlite.ts";
import { CommandError } from "./command-error.ts";
import { commandLineActor } from "./command-line-actor.ts";
import type { PlaceDatasets } from "./place.ts";

const limit = 1_000;

/** The owner's datasets in an opened database. */
export function localDatasets(store: OpenedStore, config: Config): PlaceDatasets {
  const { owner, database } = store;
  const { signal } = new AbortController();
  const actor = commandLineActor();
  const requester = { accountId: owner.account_id, signal, actor };
  const limits = { ...config.datasets, floor: diskFloorOf(config) };
  return {
    list: () =>
      readAll(async (after: Keyset | undefined) => {
        const { datasets, next } = await listDatasets({ store }, requester, { limit, after });
        return { items: datasets.map(toDataset), next };
      }),
    async create(name) {
      const newDataset = { name, description: undefined, tags: undefined, userId: owner.id };
      const dataset = await createDataset({ store }, requester, newDataset);
      return toDataset({ dataset, latest: undefined });
    },
    async upload(datasetId, { path, ...options }) {
      const isAppended = false;
      const upload = {
        accountId: owner.account_id,
        actor,
        datasetId,
        ...options,
        isAppended,
        ...limits,
      };
      const uploading = uploadRevision(database, upload, Bun.file(path).stream());
      const { revision } = await nameFile(uploading, path);
      return toDatasetRevision(revision);
    },
    async uploadEpisodes(datasetId, selection, isAppended) {
      const plain = { format: "presage" as const, isGzip: false, isAppended, ...limits };
      const upload = { accountId: owner.account_id, actor, datasetId, ...plain };
      const lines = readEpisodeLines({ store }, requester, toWantedEpisodes(selection));
      const { revision } = await uploadRevision(database, upload, lines).catch(nameEpisodes);
      return toDatasetRevision(revision);
    },
    listRevisions: (id) =>
      readAll(async (below: number | undefined) => {
        const { revisions, next } = await listRevisions({ store }, requester, id, { limit, below });
        return { items: revisions.map(toDatasetRevision), next };
      }),
    async delete(id) {
      await deleteDataset({ store }, requester, { id, withRuns: false });
      await sweepRevisions(database, signal);
    },
  };
}

function nameEpisodes(error: unknown): never {
  if (!(error instanceof UploadError)) throw error;
  const { line, reason } = error.fault;
  throw new CommandError(line === undefined ? `${noEpisodes}.` : reason);
}

/** Says in which file a line is wrong. */
export async function nameFile<Value>(uploading: Promise<Value>, path: string): Promise<Value> {
  return await uploading.catch((error: unknown) => {
    throw error instanceof UploadError ? new CommandError(`${path}: ${error.message}`) : error;
  });
}

/** All items of a paged list. */
export async function readAll<Item, Place>(
  readPage: (after: Place | undefined) => Promise<{ items: Item[]; next: Place | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: Place | undefined;
  do {
    const { items, next } = await readPage(after);
    all.push(...items);
    after = next;
  } while (after !== undefined);
  return all;
}
