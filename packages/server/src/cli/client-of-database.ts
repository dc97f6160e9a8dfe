import type {
  AgreementOfLabelsQuery,
  DatasetExportQuery,
  EpisodeExportQuery,
  ImportPreviewQuery,
  RunCalibrationQuery,
  RunExportQuery,
} from "@presage/contract";
import type { DatasetLines, UploadOptions } from "@presage/sdk";
import type { BunFile } from "bun";
import { composeDeployments, composePrices, servedModels } from "../app/compose-deployments.ts";
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
import { bytesOf, exportDataset, exportEpisodes, exportRun } from "../exports/exports.ts";
import type { Changer } from "../platform/audit.ts";
import { InvalidFieldError, UploadError } from "../platform/errors.ts";
import { createLog } from "../platform/observability/logger.ts";
import { diskFloorOf, isInMemory } from "../platform/storage/sqlite/sqlite.ts";
import type { Store } from "../platform/storage/store.ts";
import { createCheck } from "../reality/checks.ts";
import { readRealityLines } from "../reality/real-steps.ts";
import { countedCheck, describeCheck, describeEnvironment } from "../reality/show-check.ts";
import { watchReality } from "../reality/watch.ts";
import { annotatorOf, labelResult, listOfLabels } from "../results/labels/labels.ts";
import { createClientCounts } from "../runs/client/client-counts.ts";
import { writeComparison } from "../runs/compare/compare-route.ts";
import { compareRuns } from "../runs/compare/compare-runs.ts";
import { removeGoal, setGoal, toGoal } from "../runs/goals.ts";
import { selectGoals } from "../runs/goals-store.ts";
import { toListedRuns } from "../runs/headlines/listed-runs.ts";
import { agreementOf } from "../runs/labels/agreement.ts";
import { importLabels } from "../runs/labels/import-labels.ts";
import { drawLabelSample } from "../runs/labels/label-samples.ts";
import { calibrationOf } from "../runs/report/calibration-route.ts";
import { writeReport } from "../runs/report/report-route.ts";
import { reportRun } from "../runs/report/report-run.ts";
import { type RunQueue, type Run as StoredRun, toRun } from "../runs/run.ts";
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
import { changeBudget, showBudgets } from "../usage/budgets.ts";
import { createSpending } from "../usage/spending.ts";
import { CommandError, commandLineActor } from "./command.ts";
import { type Client, type Connection, findServer, readAll } from "./connect.ts";

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

/** Labels in the configured database. Those without an annotator are the owner's. */
function labelsOfDatabase(store: OpenedStore, requester: Changer): Client["labels"] {
  // A server merges what was counted.
  const services = { store, countsMerger: { schedule() {} }, clientCounts: createClientCounts() };
  const userId = store.owner.id;
  return {
    async give(id, { label, score = null, annotator }) {
      const by = annotatorOf(annotator, userId);
      await labelResult(services, requester, { resultId: Number(id), by, label, score }, undefined);
      return await listOfLabels(services, requester, Number(id));
    },
    async import(lines, { isGzip = false } = {}) {
      const body = new Response(lines).body as ReadableStream<Uint8Array>;
      try {
        return await importLabels(services, requester, { body, isGzip, userId, reserve() {} });
      } catch (error) {
        throw error instanceof UploadError ? new CommandError(error.message) : error;
      }
    },
    draw: (id, wanted) =>
      drawLabelSample(services, { ...requester, userId }, id, wanted, { once: undefined, reserve() {} }),
    agreement: (query = {}) => agreementOf(services, requester, query as AgreementOfLabelsQuery, () => {}),
  };
}

/** Goals and budgets of the owner's account in an opened database. Servers read them again within seconds. */
function limitsOfDatabase(
  store: OpenedStore,
  config: Config,
  requester: Changer,
): Pick<Client, "goals" | "budgets"> {
  const { accountId } = requester;
  const { logger } = createLog("silent");

  async function readBudgets() {
    const prices = await composePrices(config, logger);
    // The warning that a budget is nearly spent is left to a server's log.
    const spending = createSpending({ database: store.database, prices });
    const refresh = () => spending.refresh(() => new Map());
    await refresh();
    return { store, prices, spending, settleUsage: refresh };
  }

  return {
    goals: {
      async list() {
        const all = await readAll((page) => selectGoals(store.database, accountId, page));
        return all.map(toGoal);
      },
      set: async (runName, goal) =>
        toGoal(await setGoal({ store }, requester, { ...goal, runName, userId: store.owner.id })),
      remove: (runName) => removeGoal({ store }, requester, runName),
    },
    budgets: {
      list: async () => showBudgets(await readBudgets(), accountId),
      async set(request) {
        const services = await readBudgets();
        const { deployments, stopSandbox } = await composeDeployments(config, logger);
        const pricedModels = () => servedModels(config, deployments);
        return await changeBudget({ ...services, pricedModels }, requester, request).finally(stopSandbox);
      },
    },
  };
}

/** A command of its own shares its memory with nobody. */
const reserve = () => {};

/** What is replayed takes a server. */
const withoutServer = { realEnvironments: { find: () => undefined }, replays: { wake() {} } };

/** The owner's reality checks in an opened database, as a server has them. */
function realityOfDatabase(
  services: { store: Store },
  requester: Changer,
  userId: string,
): Client["realityChecks"] {
  const realityOf = watchReality(services, () => {}).stateOf;
  return {
    async create(request) {
      if (!request.pairs)
        throw new CommandError(
          "Episodes and recordings are replayed by a server. Start one on this database, or name one with --server",
        );
      const wanted = { ...request, userId };
      const check = await createCheck({ ...services, ...withoutServer }, requester, wanted).catch(
        (error: unknown) => {
          throw error instanceof InvalidFieldError ? new CommandError(describe(error)) : error;
        },
      );
      return await countedCheck(services, requester, check);
    },
    get: (id) => describeCheck(services, requester, id, reserve),
    ofEnvironment: (name, query) =>
      describeEnvironment({ ...services, realityOf }, requester, name, query ?? {}, reserve),
  };
}

function describe({ path: [, index], message }: InvalidFieldError): string {
  return index === undefined ? `${message}.` : `Pair ${Number(index) + 1}: ${message}.`;
}
