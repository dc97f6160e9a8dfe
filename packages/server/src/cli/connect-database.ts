import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { User } from "../accounts/users-store.ts";
import { composeRunner, composeStore, type OpenedStore } from "../app/compose-command-line.ts";
import { composePrices, needsSandbox } from "../app/compose-deployments.ts";
import { instanceHeader } from "../app/probes.ts";
import { type Config, withoutCredentials } from "../config/config.ts";
import { createDataset, deleteDataset, listDatasets, listRevisions } from "../datasets/datasets.ts";
import { toDataset, toDatasetRevision } from "../datasets/datasets-route.ts";
import { sweepRevisions } from "../datasets/revisions-store.ts";
import { uploadRevision } from "../datasets/upload/upload-revision.ts";
import { noEpisodes, readEpisodeLines, toWantedEpisodes } from "../environments/make-dataset.ts";
import type { Actor, Changer } from "../platform/audit.ts";
import { UploadError } from "../platform/errors.ts";
import { createLog } from "../platform/observability/logger.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { isInMemory, isSqlite, type OpenOptions, sqlitePath } from "../platform/storage/open.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { readDatabaseClock, readInstances } from "../platform/storage/settings-store.ts";
import { diskFloorOf } from "../platform/storage/sqlite.ts";
import { cancelRun, deleteRun, finishRun, pauseRun, resumeRun, sweepRun } from "../runs/change-run.ts";
import { compareRuns } from "../runs/compare/compare-runs.ts";
import { createRun, InvalidRunError } from "../runs/create-run.ts";
import { createExternalCounts } from "../runs/external/external-counts.ts";
import { findRun, listRuns } from "../runs/find-run.ts";
import { uploadPredictions } from "../runs/imported.ts";
import { writeReport } from "../runs/report/report-route.ts";
import { reportRun } from "../runs/report/report-run.ts";
import type { Run } from "../runs/run.ts";
import type { RunServices } from "../runs/run-services.ts";
import { newLeaseId, runLeaseMs } from "../runs/runner/work-store.ts";
import { readNewRun, toRun } from "../runs/runs-route.ts";
import { CommandError, printNotice } from "./command.ts";
import { hasEnded, type PlaceDatasets, type PlaceRuns, type Workplace } from "./connect.ts";
import { checkEvaluatorsLocally, namingOptions } from "./evaluators.ts";

/** A database in a message. */
export function databaseName(url: string): string {
  return isSqlite(url) && !isInMemory(url) ? resolve(sqlitePath(url)) : withoutCredentials(url);
}

/** Opens the configured database, which must exist, for one command. Servers may run at the same time. */
export async function withDatabase(
  config: Config,
  work: (store: OpenedStore) => Promise<void>,
): Promise<void> {
  if (isInMemory(config.databaseUrl)) {
    throw new CommandError("PRESAGE_DATABASE_URL is sqlite::memory:, a database that no other process sees.");
  }
  const store = await composeStore(config, createLog("silent"), { mustExist: true });
  try {
    await work(store);
  } finally {
    await store.destroy();
  }
}

/** A command on the server's machine, in the audit log. */
export function commandLineActor(): Actor {
  return { kind: "command_line", userId: null, id: null, name: userName(), requestId: null };
}

/** The command line as the actor of changes in a user's account. */
export function changerFor(user: Pick<User, "account_id">): Pick<Changer, "accountId" | "actor"> {
  return { accountId: user.account_id, actor: commandLineActor() };
}

/** In a container there may be a number and no name. */
function userName(): string | null {
  try {
    const { username, uid } = userInfo();
    // What Bun says where no variable has the name.
    return username === "unknown" ? `user ${uid}` : username;
  } catch {
    return null;
  }
}

const readyTimeoutMs = 3_000;
/** Only the latest are tried: earlier ones have most likely crashed. */
const maxAddresses = 10;

export interface FoundServer {
  /** Where browsers reach a server that runs on the database. */
  running: string | undefined;
  /** Where servers on the database should be reached, newest first. */
  noted: readonly string[];
  /** Whether a server on another database answers at the address. */
  isTaken(address: string): Promise<boolean>;
}

/** Finds a server that runs on the database. If a public URL is configured, that is its address. */
export async function findServer(database: Database, { listen }: Config): Promise<FoundServer> {
  const instances = await readInstances(database);
  const ids = new Set(instances.map(({ id }) => id));
  const noted = [...new Set(instances.map(({ address }) => address))].slice(0, maxAddresses);
  const answering = await Promise.all(noted.map(findInstance));
  const running = noted.find((_, index) => ids.has(answering[index] ?? ""));
  return {
    running: running === undefined ? undefined : (listen.publicUrl ?? running),
    noted,
    async isTaken(address) {
      const id = await findInstance(address);
      return id !== undefined && !ids.has(id);
    },
  };
}

/** The instance that answers there and accepts requests; empty if it does not say which it is. */
async function findInstance(address: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${address}/ready`, { signal: AbortSignal.timeout(readyTimeoutMs) });
    const isReady = response.ok && (await response.text()).includes('"ready"');
    return isReady ? (response.headers.get(instanceHeader) ?? "") : undefined;
  } catch {
    return undefined;
  }
}

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

/** The owner's runs in an opened database. */
export function localRuns(
  store: OpenedStore,
  config: Config,
  runs: Pick<RunServices, "wake"> = { wake() {} },
): PlaceRuns {
  const services = { store, runs, externalCounts: createExternalCounts() };
  const { signal } = new AbortController();
  const requester = { accountId: store.owner.account_id, signal, actor: commandLineActor() };

  async function report(id: string) {
    const run = await findRun(services, requester, id);
    const prices = await composePrices(config, createLog("silent").logger);
    return { run: toRun(run), ...(await reportRun(services, requester, run, prices.current())) };
  }

  return {
    list: (name) =>
      readAll(async (after: Keyset | undefined) => {
        const { rows, next } = await listRuns(services, requester, { name }, { limit, after });
        return { items: rows.map(toRun), next };
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
    report,
    reportAs: async (id, format) => await writeReport(services, requester, await report(id), format),
    async compare(ids) {
      const found: Run[] = [];
      for (const id of ids) found.push(await findRun(services, requester, id));
      const [reference, ...candidates] = found;
      if (reference === undefined) throw new Error("There is no reference to compare with");
      const { leftOut, ...differences } = await compareRuns(services, requester, [reference, ...candidates]);
      const compared = found.map((run, index) => ({ ...toRun(run), left_out: leftOut[index] ?? 0 }));
      return { runs: compared, ...differences };
    },
    async findOrigin() {
      if (isInMemory(config.databaseUrl)) return undefined;
      return (await findServer(store.database, config)).running;
    },
  };
}

/** Says that no model predicts. */
export function printSandboxNotice(): void {
  printNotice(
    "PRESAGE_UPSTREAM_URL is not set: using the built-in sandbox, a rule-based simulator, not a language model.",
  );
}

const pollEveryMs = 300;

/** Runs in the configured database, on which this process works. */
export async function openLocalWorkplace(config: Config, options?: OpenOptions): Promise<Workplace> {
  const runner = await composeRunner(config, createLog("warn"), options);
  const { store, services } = runner;
  const { owner, database } = store;
  const accountId = owner.account_id;
  const actor = commandLineActor();
  const requester = { accountId, signal: new AbortController().signal, actor };
  const leaseId = newLeaseId();
  const runs = localRuns(store, config, services.runs);

  return {
    name: `the database ${databaseName(config.databaseUrl)}`,
    datasets: localDatasets(store, config),
    runs,
    checkEvaluators: (evaluators) =>
      checkEvaluatorsLocally(services, accountId, evaluators, services.hasModel),
    findDefaultDeployment: async () => runner.defaultDeployment,
    async create(wanted, evaluators) {
      const newRun = { ...readNewRun({ ...wanted, evaluators: [] }), evaluators, userId: owner.id };
      // A server on this database may have other deployments of the same names.
      const until = (await readDatabaseClock(database)) + runLeaseMs * microsPerMs;
      if ("deployment" in wanted.target && needsSandbox(config)) printSandboxNotice();
      const isAsked = newRun.target.kind !== "imported";
      const held = isAsked ? { ...newRun, heldBy: { leaseId, until } } : newRun;
      const created = createRun(services, requester, held, undefined);
      return toRun(
        await created.catch((error: unknown) => {
          throw error instanceof InvalidRunError
            ? new CommandError(`${error.path.join(".")}: ${error.message}`)
            : namingOptions(error, evaluators);
        }),
      );
    },
    async uploadPredictions(runId, { path, isGzip }) {
      const limits = { maxBytes: config.datasets.maxBytes, floor: diskFloorOf(config) };
      const upload = { accountId, actor, runId, isGzip, ...limits };
      return await nameFile(uploadPredictions(database, upload, Bun.file(path).stream()), path);
    },
    start: (id) => runner.start({ id, leaseId }),
    async waitUntilEnded(id, onProgress, signal) {
      for (;;) {
        const run = await runs.get(id);
        onProgress(run);
        if (hasEnded(run)) return run;
        await Bun.sleep(pollEveryMs);
        signal.throwIfAborted();
      }
    },
    close: runner.stop,
  };
}
