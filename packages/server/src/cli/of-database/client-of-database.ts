import type {
  DatasetExportQuery,
  EpisodeExportQuery,
  ImportPreviewQuery,
  RunCalibrationQuery,
  RunExportQuery,
} from "@presage/contract";
import type { DatasetLines, UploadOptions } from "@presage/sdk";
import type { BunFile } from "bun";
import { composePrices } from "../../app/compose-deployments.ts";
import type { OpenedStore } from "../../app/storage.ts";
import type { Config } from "../../config/config.ts";
import {
  createDataset,
  deleteDataset,
  listDatasets,
  listRevisions,
  toDataset,
  toDatasetRevision,
} from "../../datasets/datasets.ts";
import { sweepRevisions } from "../../datasets/revisions-store.ts";
import { ownLines, readImport } from "../../datasets/traces/import.ts";
import { previewImport } from "../../datasets/traces/preview.ts";
import { uploadRevision } from "../../datasets/upload/upload-revision.ts";
import { noEpisodes } from "../../datasets/upload/upload-route.ts";
import { readEpisodeLines } from "../../environments/episodes/episode-lines.ts";
import { bytesOf, exportDataset, exportEpisodes, exportRun } from "../../exports/exports.ts";
import type { Changer } from "../../platform/audit.ts";
import { UploadError } from "../../platform/errors.ts";
import { createLog } from "../../platform/observability/logger.ts";
import { diskFloorOf, isInMemory } from "../../platform/storage/sqlite/sqlite.ts";
import { readRealityLines } from "../../reality/real-steps.ts";
import { createClientCounts } from "../../runs/client/client-counts.ts";
import { writeComparison } from "../../runs/compare/compare-route.ts";
import { compareRuns } from "../../runs/compare/compare-runs.ts";
import { toListedRuns } from "../../runs/headlines/headline.ts";
import { calibrationOf } from "../../runs/report/calibration-route.ts";
import { writeReport } from "../../runs/report/report-route.ts";
import { reportRun } from "../../runs/report/report-run.ts";
import type { RunQueue, Run as StoredRun } from "../../runs/run.ts";
import { toRun } from "../../runs/run.ts";
import {
  cancelRun,
  deleteRun,
  findRun,
  finishRun,
  listRuns,
  pauseRun,
  resumeRun,
  sweepRun,
} from "../../runs/runs.ts";
import { CommandError, commandLineActor } from "../command.ts";
import { type Client, type Connection, findServer, readAll } from "../connect.ts";
import { labelsOfDatabase } from "./labels-of-database.ts";
import { limitsOfDatabase } from "./limits-of-database.ts";
import { realityOfDatabase } from "./reality-of-database.ts";

/** What the owner has in an opened database. */
export function connectToStore(
  store: OpenedStore,
  config: Config,
  runs: RunQueue = { wake() {} },
): Connection {
  const client: Client = {
    datasets: datasetsOf(store, config),
    imports: previewsHere(config),
    episodes: {
      export: (query) => bytesOf(exportEpisodes({ store }, requesterOf(store), query as EpisodeExportQuery)),
    },
    ...runsOf(store, config, runs),
    realityChecks: realityOfDatabase({ store }, requesterOf(store), store.owner.id),
    labels: labelsOfDatabase(store, requesterOf(store)),
    ...limitsOfDatabase(store, config, requesterOf(store)),
  };
  return {
    call: (work) => work(client),
    async findOrigin() {
      if (isInMemory(config.databaseUrl)) return undefined;
      return (await findServer(store.database, config)).running;
    },
  };
}

/** The owner, by the command line. */
export function requesterOf({ owner }: OpenedStore): Changer {
  const { signal } = new AbortController();
  return { accountId: owner.account_id, signal, actor: commandLineActor() };
}

function datasetsOf(store: OpenedStore, config: Config): Client["datasets"] {
  const { owner, database } = store;
  const requester = requesterOf(store);
  const { accountId, actor, signal } = requester;
  const common = { accountId, actor, ...config.datasets, floor: diskFloorOf(config) };

  async function uploadEpisodes(
    datasetId: string,
    lines: AsyncIterable<Uint8Array>,
    { append = false }: { append?: boolean | undefined } = {},
  ) {
    const upload = { ...common, datasetId, ...ownLines, isAppended: append };
    const { revision } = await uploadRevision(database, upload, lines).catch(nameEpisodes);
    return toDatasetRevision(revision);
  }

  return {
    list: () =>
      readAll(async (page) => {
        const { datasets, next } = await listDatasets({ store }, requester, page);
        return { rows: datasets.map(toDataset), next };
      }),
    async create({ name, description }) {
      const wanted = { name, description, userId: owner.id };
      const dataset = await createDataset({ store }, requester, wanted);
      return toDataset({ ...dataset, latest: undefined });
    },
    async upload(datasetId, files, options = {}) {
      const upload = {
        ...common,
        datasetId,
        ...readUpload(options, common),
        isAppended: options.append === true,
      };
      return toDatasetRevision((await uploadRevision(database, upload, chunksOf(files))).revision);
    },
    export(id, { revision, ...query } = {}) {
      const wanted = { id, number: revision === undefined ? undefined : Number(revision) };
      return bytesOf(exportDataset({ store }, requester, wanted, query as DatasetExportQuery));
    },
    uploadEpisodes: (id, selection, options) =>
      uploadEpisodes(id, readEpisodeLines({ store }, requester, selection), options),
    uploadRealityChecks: (id, selection, options) =>
      uploadEpisodes(id, readRealityLines({ store }, requester, selection), options),
    listRevisions: (id) =>
      readAll(async ({ limit, after: below }: { limit: number; after: number | undefined }) => {
        const { revisions, next } = await listRevisions({ store }, requester, id, { limit, below });
        return { rows: revisions.map(toDatasetRevision), next };
      }),
    async delete(id) {
      await deleteDataset({ store }, requester, { id, withRuns: false });
      await sweepRevisions(database, signal);
    },
  };
}

/** Says what would be imported, without a database. */
export function previewsHere({ datasets }: Config): Client["imports"] {
  return {
    preview: (files, options = {}) => previewImport(readUpload(options, datasets), chunksOf(files)),
  };
}

function readUpload(
  { isGzip = false, contentType, ...query }: UploadOptions,
  { maxBytes }: { maxBytes: number },
) {
  const { append: _, signal: __, timeoutMs: ___, retries: ____, onResponse: _____, ...options } = query;
  return { ...readImport(options as ImportPreviewQuery), contentType, isGzip, maxBytes };
}

function chunksOf(files: DatasetLines): ReadableStream<Uint8Array> {
  return files instanceof ReadableStream ? files : (new Response(files).body as ReadableStream<Uint8Array>);
}

function nameEpisodes(error: unknown): never {
  if (!(error instanceof UploadError)) throw error;
  const [fault] = error.faults;
  throw new CommandError(fault?.line === undefined ? `${noEpisodes}.` : fault.reason);
}

/** Says in which file a line is wrong. */
export function namingFile({ name }: BunFile): (error: unknown) => never {
  return (error) => {
    throw error instanceof UploadError ? new CommandError(`${name}: ${error.message}`) : error;
  };
}

function runsOf(store: OpenedStore, config: Config, runs: RunQueue): Pick<Client, "runs" | "comparisons"> {
  const services = { store, runs, clientCounts: createClientCounts() };
  const requester = requesterOf(store);

  async function report(id: string) {
    const run = await findRun(services, requester, id);
    const prices = await composePrices(config, createLog("silent").logger);
    return { run: toRun(run), ...(await reportRun(services, requester, run, prices.current())) };
  }

  async function compare(ids: readonly string[]) {
    const found: StoredRun[] = [];
    for (const id of ids) found.push(await findRun(services, requester, id));
    const [reference, ...candidates] = found;
    if (reference === undefined) throw new Error("There is no reference to compare with");
    const { leftOut, ...differences } = await compareRuns(services, requester, [reference, ...candidates]);
    const compared = found.map((run, index) => ({ ...toRun(run), left_out: leftOut[index] ?? 0 }));
    return { runs: compared, ...differences };
  }

  return {
    runs: {
      list: ({ name } = {}) =>
        readAll(async (page) => {
          const { rows, next } = await listRuns(services, requester, { name }, page);
          const prices = await composePrices(config, createLog("silent").logger);
          return { rows: await toListedRuns({ store }, requester, rows, prices.current()), next };
        }),
      get: async (id) => toRun(await findRun(services, requester, id)),
      cancel: async (id) => toRun(await cancelRun(services, requester, id)),
      pause: async (id) => toRun(await pauseRun(services, requester, id)),
      resume: async (id) => toRun(await resumeRun(services, requester, id)),
      finish: async (id) => toRun(await finishRun(services, requester, id)),
      async delete(id) {
        await deleteRun(services, requester, id);
        await sweepRun(store.database, id);
      },
      export: (id, query) => bytesOf(exportRun(services, requester, id, query as RunExportQuery)),
      report,
      calibration: (id, query) =>
        calibrationOf(services, requester, id, query as RunCalibrationQuery, () => {}),
      reportAs: async (id, format) => await writeReport(services, requester, await report(id), format),
    },
    comparisons: {
      get: compare,
      getAs: async (ids, format) => await writeComparison(services, requester, await compare(ids), format),
    },
  };
}
