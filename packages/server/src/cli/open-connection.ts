import type {
  DatasetExportQuery,
  EpisodeExportQuery,
  ImportPreviewQuery,
  Run,
  RunCalibrationQuery,
  RunCreateRequest,
  RunExportQuery,
  RunUpload,
} from "@presage/contract";
import type { DatasetLines, UploadOptions } from "@presage/sdk";
import type { BunFile } from "bun";
import { composePrices, needsSandbox } from "../app/compose-deployments.ts";
import { composeRunner } from "../app/compose-runs.ts";
import type { OpenedStore } from "../app/storage.ts";
import type { Config } from "../config/config.ts";
import {
  createDataset,
  deleteDataset,
  listDatasets,
  listRevisions,
  toDataset,
  toDatasetRevision,
} from "../datasets/datasets.ts";
import { sweepRevisions } from "../datasets/revisions-store.ts";
import { ownLines, readImport } from "../datasets/traces/import.ts";
import { previewImport } from "../datasets/traces/preview.ts";
import { uploadRevision } from "../datasets/upload/upload-revision.ts";
import { noEpisodes } from "../datasets/upload/upload-route.ts";
import { readEpisodeLines } from "../environments/episodes/episode-lines.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { bytesOf, exportDataset, exportEpisodes, exportRun } from "../exports/exports.ts";
import type { Changer } from "../platform/audit.ts";
import { UploadError } from "../platform/errors.ts";
import { createLog } from "../platform/observability/logger.ts";
import { readDatabaseClock } from "../platform/storage/clock.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { diskFloorOf, isInMemory } from "../platform/storage/sqlite/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { readRealityLines } from "../reality/real-steps.ts";
import { createClientCounts } from "../runs/client/client-counts.ts";
import { writeComparison } from "../runs/compare/compare-route.ts";
import { compareRuns } from "../runs/compare/compare-runs.ts";
import { createRun, InvalidRunError } from "../runs/create-run.ts";
import { toListedRuns } from "../runs/headlines/headline.ts";
import { uploadPredictions } from "../runs/imported.ts";
import { calibrationOf } from "../runs/report/calibration-route.ts";
import { writeReport } from "../runs/report/report-route.ts";
import { reportRun } from "../runs/report/report-run.ts";
import type { RunQueue, Run as StoredRun } from "../runs/run.ts";
import { newLeaseId, runLeaseMs, toRun } from "../runs/run.ts";
import {
  cancelRun,
  deleteRun,
  findRun,
  finishRun,
  listRuns,
  pauseRun,
  resumeRun,
  sweepRun,
} from "../runs/runs.ts";
import { CommandError, commandLineActor, printSandboxNotice } from "./command.ts";
import {
  type Client,
  type Connection,
  type ConnectionOptions,
  connectToRunningServer,
  connectToServer,
  databaseName,
  findServer,
  hasEnded,
  openOrCreate,
  type ServerConnection,
  withDatabase,
} from "./connect.ts";
import {
  checkEvaluatorsLocally,
  checkEvaluatorsRemotely,
  namingOptions,
  toReference,
} from "./evaluate/evaluators.ts";
import { labelsOfDatabase } from "./labels-of-database.ts";
import { limitsOfDatabase } from "./limits-of-database.ts";
import { realityOfDatabase } from "./reality-of-database.ts";
import { type WorldCalls, worldsOfDatabase } from "./worlds/worlds-of-database.ts";

/** Connects a command to the server it names, or else to the configured database. */
export async function withConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: Connection) => Promise<void>,
  options?: OpenOptions,
): Promise<void> {
  if (server !== undefined) return await work(connectToServer(server, config.clientApiKey));
  await withDatabase(config, (store) => work(connectToStore(store, config)), options);
}

/** A connection through which runs are made, and worlds. */
export interface RunConnection extends Connection {
  call<Value>(work: (client: Client & WorldCalls) => Promise<Value>): Promise<Value>;
  /** Where runs are written, for people. */
  name: string;
  /** Refuses evaluators that cannot be used, before anything is stored. */
  checkEvaluators(evaluators: readonly WantedEvaluator[]): Promise<void>;
  findDefaultDeployment(): Promise<string>;
  createRun(
    wanted: Omit<RunCreateRequest, "evaluators">,
    evaluators: readonly WantedEvaluator[],
  ): Promise<Run>;
  uploadPredictions(
    id: string,
    file: BunFile,
    options: { isGzip: boolean },
  ): Promise<Pick<RunUpload, "warnings">>;
  /** Makes sure that a process works on a run. */
  start(id: string): void;
  /** Resolves once a run has ended. What `onProgress` throws ends the waiting. */
  waitUntilEnded(id: string, onProgress: (run: Run) => void, signal: AbortSignal): Promise<Run>;
  /** Stops the work of this process. */
  close(): Promise<void>;
}

interface OpenRunsOptions extends ConnectionOptions {
  evaluators: readonly WantedEvaluator[];
  /** Whether a database may be created: the command needs nothing of it. */
  mayCreate: boolean;
}

/** Connects to another server, to the one that runs on the configured database, or to that database. */
export async function openRunConnection(
  config: Config,
  { server, evaluators, mayCreate }: OpenRunsOptions,
): Promise<RunConnection> {
  if (server !== undefined) return runsOfServer(connectToServer(server, config.clientApiKey));
  const running = await connectToRunningServer(config);
  if (running !== undefined) return runsOfServer(running);
  if (!mayCreate) return await runsOfDatabase(config, { mustExist: true });
  return await openOrCreate(config, runsOfDatabase, async (empty) => {
    await empty.checkEvaluators(evaluators).finally(() => empty.close());
  });
}

/** On the server that is named, on the one that runs on the configured database, or on that database. */
export async function withRunConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: RunConnection) => Promise<void>,
): Promise<void> {
  const connection = await openRunConnection(config, { server, evaluators: [], mayCreate: false });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

/** The runs of a server, which works on them. */
function runsOfServer(connection: ServerConnection): RunConnection {
  const { call, origin } = connection;
  return {
    ...connection,
    name: `the server at ${origin}`,
    checkEvaluators: (evaluators) => checkEvaluatorsRemotely(call, evaluators),
    async findDefaultDeployment() {
      const found = (await call(({ deployments }) => deployments.list())).find((one) => one.is_default);
      if (found === undefined) throw new CommandError("The server has no deployment; name a target");
      return found.name;
    },
    createRun: (wanted, evaluators) =>
      call(({ runs }) => runs.create({ ...wanted, evaluators: evaluators.map(toReference) })),
    uploadPredictions: (id, file, options) => call(({ runs }) => runs.uploadPredictions(id, file, options)),
    start() {},
    waitUntilEnded: (id, onProgress, signal) =>
      call(({ runs }) => runs.waitUntilEnded(id, { onProgress, signal })),
    async close() {},
  };
}

const pollEveryMs = 300;

/** Runs in the configured database, on which this process works. */
async function runsOfDatabase(config: Config, options?: OpenOptions): Promise<RunConnection> {
  const runner = await composeRunner(config, createLog("warn"), options);
  const { store, services } = runner;
  const { owner, database } = store;
  const requester = requesterOf(store);
  const { accountId, actor } = requester;
  const leaseId = newLeaseId();
  const connection = connectToStore(store, config, services.runs);
  const worlds = worldsOfDatabase(services, requester, owner.id);

  return {
    ...connection,
    call: (work) => connection.call((client) => work({ ...client, ...worlds })),
    name: `the database ${databaseName(config.databaseUrl)}`,
    checkEvaluators: (evaluators) =>
      checkEvaluatorsLocally(services, accountId, evaluators, services.hasModel),
    findDefaultDeployment: async () => runner.defaultDeployment,
    async createRun(wanted, evaluators) {
      // A server on this database may have other deployments of the same names.
      const until = (await readDatabaseClock(database)) + runLeaseMs * microsPerMs;
      if ("deployment" in wanted.target && needsSandbox(config)) printSandboxNotice();
      const heldBy = "predictions" in wanted.target ? undefined : { leaseId, until };
      const newRun = { ...wanted, evaluators, userId: owner.id, heldBy };
      const created = createRun(services, requester, newRun, undefined);
      return toRun(
        await created.catch((error: unknown) => {
          throw error instanceof InvalidRunError
            ? new CommandError(`${error.path.join(".")}: ${error.message}`)
            : namingOptions(error, evaluators);
        }),
      );
    },
    async uploadPredictions(runId, file, { isGzip }) {
      const limits = { maxBytes: config.datasets.maxBytes, floor: diskFloorOf(config) };
      const upload = { accountId, actor, runId, isGzip, ...limits };
      return await uploadPredictions(database, upload, file.stream()).catch(namingFile(file));
    },
    start: (id) => runner.start({ id, leaseId }),
    async waitUntilEnded(id, onProgress, signal) {
      for (;;) {
        const run = await connection.call(({ runs }) => runs.get(id));
        onProgress(run);
        if (hasEnded(run)) return run;
        await Bun.sleep(pollEveryMs);
        signal.throwIfAborted();
      }
    },
    close: runner.stop,
  };
}

/** What the owner has in an opened database. */
function connectToStore(store: OpenedStore, config: Config, runs: RunQueue = { wake() {} }): Connection {
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
function requesterOf({ owner }: OpenedStore): Changer {
  const { signal } = new AbortController();
  return { accountId: owner.account_id, signal, actor: commandLineActor() };
}

const pageSize = 1_000;

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
      readAll(async (after: Keyset | undefined) => {
        const page = { limit: pageSize, after };
        const { datasets, next } = await listDatasets({ store }, requester, page);
        return { items: datasets.map(toDataset), next };
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
      readAll(async (below: number | undefined) => {
        const page = { limit: pageSize, below };
        const { revisions, next } = await listRevisions({ store }, requester, id, page);
        return { items: revisions.map(toDatasetRevision), next };
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
function namingFile({ name }: BunFile): (error: unknown) => never {
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
        readAll(async (after: Keyset | undefined) => {
          const page = { limit: pageSize, after };
          const { rows, next } = await listRuns(services, requester, { name }, page);
          const prices = await composePrices(config, createLog("silent").logger);
          return { items: await toListedRuns({ store }, requester, rows, prices.current()), next };
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

/** All items of a paged list. */
async function readAll<Item, Position>(
  readPage: (after: Position | undefined) => Promise<{ items: Item[]; next: Position | undefined }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: Position | undefined;
  do {
    const { items, next } = await readPage(after);
    all.push(...items);
    after = next;
  } while (after !== undefined);
  return all;
}
