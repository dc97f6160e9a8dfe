import { constants, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type {
  Comparison,
  Dataset,
  DatasetFormat,
  DatasetRevision,
  EpisodeSelection,
  Run,
  RunCreateRequest,
  RunReport,
  RunUpload,
} from "@presage/contract";
import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { z } from "zod";
import { generateCommandLineKey } from "../accounts/verify-api-key.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { inMemoryUrl, isInMemory, isSqlite, sqlitePath } from "../platform/storage/open.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { CommandError } from "./command.ts";
import { localDatasets, localRuns, openLocalWorkplace, withDatabase } from "./connect-database.ts";
import { checkEvaluatorsRemotely, toReference } from "./evaluators.ts";

/** Longer than any deadline that a server can be configured with: the server is the one that gives up. */
const timeoutMs = 25 * 3_600_000;

/** Makes one call, retries included. */
export type CallServer = <Value>(call: (presage: Presage) => Promise<Value>) => Promise<Value>;

export interface ServerConnection {
  call: CallServer;
  /** Where its dashboard is. */
  origin: string;
}

/**
 * Connects to the Presage at `server`, which may end in the `/v1` that OpenAI clients need. Without a scheme it is https, so
 * that no key is sent in plain text unasked, but on this machine http.
 */
export function connectToServer(
  server: string,
  apiKey: string | undefined,
  keyPlace = "PRESAGE_API_KEY",
): ServerConnection {
  if (apiKey === undefined) throw new CommandError("--server needs an API key in PRESAGE_API_KEY");
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(server);
  const address = hasScheme ? server : `${isOnThisMachine(server) ? "http" : "https"}://${server}`;
  const hint =
    hasScheme || isOnThisMachine(server) ? "" : ` If it serves plain HTTP, use --server http://${server}.`;
  const baseUrl = address.replace(/\/v1\/*$/, "");
  const presage = createClient(baseUrl, apiKey);
  return {
    origin: new URL(baseUrl).origin,
    async call(call) {
      try {
        return await call(presage);
      } catch (error) {
        if (!(error instanceof PresageError)) throw error;
        if (error.category === "unauthenticated")
          throw new CommandError(`${address} rejects the API key in ${keyPlace}`);
        // Where nothing of Presage responded, the message names the address itself.
        const named = error.message.includes(baseUrl) ? error.message : `${address}: ${error.message}`;
        const message = error.category === "connection" ? named + hint : named;
        // Every line of a file names the same evaluators.
        if (error.issues.some(({ loc }) => loc[1] === "evaluators")) throw new CommandError(message);
        throw new PresageError(message, error);
      }
    },
  };
}

function isOnThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(host);
}

function createClient(baseUrl: string, apiKey: string): Presage {
  try {
    // Bun's own timeout of five minutes is shorter than a server's deadline can be.
    return createPresage({
      baseUrl,
      apiKey,
      timeoutMs,
      fetch: (url, init) => fetch(url, { ...init, timeout: false }),
    });
  } catch (error) {
    throw error instanceof TypeError ? new CommandError(`--server: ${error.message}`) : error;
  }
}

/** What another server has of the key's account. */
export function remotePlace({ call, origin }: ServerConnection): Place {
  return {
    datasets: {
      list: () => call(({ datasets }) => datasets.list()),
      create: (name) => call(({ datasets }) => datasets.create({ name })),
      upload: (id, { path, ...options }) =>
        call(({ datasets }) => datasets.upload(id, Bun.file(path), options)),
      uploadEpisodes: (id, selection, append) =>
        call(({ datasets }) => datasets.uploadEpisodes(id, selection, { append })),
      listRevisions: (id) => call(({ datasets }) => datasets.listRevisions(id)),
      delete: (id) => call(({ datasets }) => datasets.delete(id)),
    },
    runs: {
      list: (name) => call(({ runs }) => runs.list({ name })),
      get: (id) => call(({ runs }) => runs.get(id)),
      cancel: (id) => call(({ runs }) => runs.cancel(id)),
      pause: (id) => call(({ runs }) => runs.pause(id)),
      resume: (id) => call(({ runs }) => runs.resume(id)),
      finish: (id) => call(({ runs }) => runs.finish(id)),
      delete: (id) => call(({ runs }) => runs.delete(id)),
      report: (id) => call(({ runs }) => runs.report(id)),
      reportAs: (id, format) => call(({ runs }) => runs.reportAs(id, format)),
      compare: (ids) => call(({ comparisons }) => comparisons.get(ids)),
      findOrigin: async () => origin,
    },
  };
}

/** What a command works on: another server, or what the owner has in the configured database. */
export interface Place {
  datasets: PlaceDatasets;
  runs: PlaceRuns;
}

export interface DatasetFile {
  path: string;
  /** Absent: the first line tells. */
  format: DatasetFormat | undefined;
  isGzip: boolean;
}

export interface PlaceDatasets {
  /** Newest first. */
  list(): Promise<Dataset[]>;
  create(name: string): Promise<Dataset>;
  upload(id: string, file: DatasetFile): Promise<DatasetRevision>;
  /** Makes a revision of episodes, behind the lines of the latest one if wanted. */
  uploadEpisodes(id: string, selection: EpisodeSelection, isAppended: boolean): Promise<DatasetRevision>;
  /** The highest number first. */
  listRevisions(id: string): Promise<DatasetRevision[]>;
  delete(id: string): Promise<void>;
}

export interface PlaceRuns {
  /** Newest first; of one name, or all. */
  list(name?: string): Promise<Run[]>;
  get(id: string): Promise<Run>;
  cancel(id: string): Promise<Run>;
  pause(id: string): Promise<Run>;
  resume(id: string): Promise<Run>;
  finish(id: string): Promise<Run>;
  delete(id: string): Promise<void>;
  report(id: string): Promise<RunReport>;
  reportAs(id: string, format: "html" | "md"): Promise<string>;
  /** The first is the reference. */
  compare(ids: readonly string[]): Promise<Comparison>;
  /** Where the dashboard is; undefined while no server runs. */
  findOrigin(): Promise<string | undefined>;
}

export interface PlaceOptions {
  server?: string | undefined;
}

export async function withPlace(
  config: Config,
  { server }: PlaceOptions,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  if (server !== undefined) return await work(remotePlace(connectToServer(server, config.clientApiKey)));
  await withDatabase(config, (store) =>
    work({ datasets: localDatasets(store, config), runs: localRuns(store, config) }),
  );
}

/** A dataset by its name or id. */
export async function findDataset(
  { datasets }: Pick<Place, "datasets">,
  nameOrId: string,
): Promise<Dataset | undefined> {
  const all = await datasets.list();
  return all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId.toLowerCase());
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxNamedIds = 5;

/** A run by its id, or by a name that no other run has. */
export async function findRun({ runs }: Pick<Place, "runs">, nameOrId: string): Promise<Run> {
  if (uuid.test(nameOrId)) return await runs.get(nameOrId.toLowerCase());
  const [run, ...others] = await runs.list(nameOrId);
  if (run === undefined) throw new CommandError(`There is no run ${nameOrId}.`);
  if (others.length === 0) return run;
  const ids = [run, ...others].slice(0, maxNamedIds).map(({ id }) => `  ${id}`);
  throw new CommandError(
    [`${others.length + 1} runs are named ${nameOrId}. Give an id; the newest are:`, ...ids].join("\n"),
  );
}

/** The runs of another server, which works on them. */
export function openRemoteWorkplace(connection: ServerConnection): Workplace {
  const { call, origin } = connection;
  return {
    name: `the server at ${origin}`,
    ...remotePlace(connection),
    checkEvaluators: (evaluators) => checkEvaluatorsRemotely(call, evaluators),
    async findDefaultDeployment() {
      const found = (await call(({ deployments }) => deployments.list())).find((one) => one.is_default);
      if (found === undefined) throw new CommandError("The server has no deployment; name a target");
      return found.name;
    },
    create: (wanted, evaluators) =>
      call(({ runs }) => runs.create({ ...wanted, evaluators: evaluators.map(toReference) })),
    async uploadPredictions(id, { path, isGzip }) {
      return await call(({ runs }) => runs.uploadPredictions(id, Bun.file(path), { isGzip }));
    },
    start() {},
    waitUntilEnded: (id, onProgress, signal) =>
      call(({ runs }) => runs.waitUntilEnded(id, { onProgress, signal })),
    async close() {},
  };
}

const answerTimeoutMs = 3_000;

const RunningServer = z.object({
  address: z.url(),
  publicUrl: z.url(),
  key: z.string(),
  pid: z.int().min(1),
});
type RunningServer = z.infer<typeof RunningServer>;

/**
 * The file beside an SQLite database by which commands find the server that runs on it; undefined if the database is no file. It
 * grants its reader no more than the database does, and only the server's user can read it.
 */
export function createServerFile(databaseUrl: string) {
  const path = pathFor(databaseUrl);
  if (path === undefined) return undefined;
  const key = generateCommandLineKey();
  return {
    key,
    async write(address: string, publicUrl: string): Promise<void> {
      const server: RunningServer = { address, publicUrl, key, pid: process.pid };
      const partial = `${path}.${Bun.randomUUIDv7()}`;
      await writeFile(partial, JSON.stringify(server), { mode: 0o600, flag: "wx" });
      // A command that reads meanwhile gets all of it.
      await rename(partial, path).finally(() => rm(partial, { force: true }));
    },
    async remove(): Promise<void> {
      // Another server on the database may have written its own. What is left of this one is ignored.
      const text = await readFile(path, "utf8").catch(() => "");
      if (text.includes(key)) await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** Connects to the server on the configured SQLite database; undefined if none answers, or if the command has models of its own to ask. */
export async function connectToRunningServer(config: Config): Promise<ServerConnection | undefined> {
  const path = pathFor(config.databaseUrl);
  const hasOwnModels = !needsSandbox(config) || config.judge.url !== undefined;
  const found = path === undefined || hasOwnModels ? undefined : await findRunningServer(path);
  if (found === undefined) return undefined;
  return { ...connectToServer(found.address, found.key, path), origin: new URL(found.publicUrl).origin };
}

/** `data/presage.server.json` for `data/presage.db`. */
function pathFor(databaseUrl: string): string | undefined {
  if (!isSqlite(databaseUrl) || isInMemory(databaseUrl)) return undefined;
  return `${resolve(sqlitePath(databaseUrl)).replace(/\.db$/, "")}.server.json`;
}

/** Undefined unless its process lives and answers. A file that others could have written might lead anywhere. */
async function findRunningServer(path: string): Promise<RunningServer | undefined> {
  try {
    const text = await readOwnFile(path);
    if (text === undefined) return undefined;
    const server = RunningServer.parse(JSON.parse(text));
    process.kill(server.pid, 0);
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const headers = { "x-api-key": server.key };
    const { ok } = await fetch(`${server.address}/v1/me`, { headers, redirect: "error", signal });
    return ok ? server : undefined;
  } catch {
    return undefined;
  }
}

async function readOwnFile(path: string): Promise<string | undefined> {
  // Not waiting for whoever writes to a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { uid, mode } = await file.stat();
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) return undefined;
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** What a run is made with, besides its evaluators. */
export type WantedRun = Omit<RunCreateRequest, "evaluators">;

export interface PredictionsFile {
  path: string;
  isGzip: boolean;
}

/** A place where runs are made. */
export interface Workplace extends Place {
  /** Where runs are written, for people. */
  name: string;
  /** Refuses evaluators that cannot be used, before anything is stored. */
  checkEvaluators(evaluators: readonly WantedEvaluator[]): Promise<void>;
  findDefaultDeployment(): Promise<string>;
  create(wanted: WantedRun, evaluators: readonly WantedEvaluator[]): Promise<Run>;
  uploadPredictions(id: string, file: PredictionsFile): Promise<Pick<RunUpload, "warnings">>;
  /** Makes sure that a process works on a run. */
  start(id: string): void;
  /** Resolves once a run has ended. What `onProgress` throws ends the waiting. */
  waitUntilEnded(id: string, onProgress: (run: Run) => void, signal: AbortSignal): Promise<Run>;
  /** Stops the work of this process. */
  close(): Promise<void>;
}

interface OpenWorkplaceOptions {
  server: string | undefined;
  evaluators: readonly WantedEvaluator[];
  /** Whether a database may be created: the command needs nothing of it. */
  mayCreate: boolean;
}

/** Opens another server, the one that runs on the configured database, or that database. */
export async function openWorkplace(
  config: Config,
  { server, evaluators, mayCreate }: OpenWorkplaceOptions,
): Promise<Workplace> {
  if (server !== undefined) return openRemoteWorkplace(connectToServer(server, config.clientApiKey));
  const running = await connectToRunningServer(config);
  if (running !== undefined) return openRemoteWorkplace(running);
  try {
    return await openLocalWorkplace(config, { mustExist: true });
  } catch (error) {
    if (!(error instanceof NoDatabaseError && mayCreate)) throw error;
    // No database is created for a command that is refused: one in memory is as empty, and refuses the same.
    const empty = await openLocalWorkplace({ ...config, databaseUrl: inMemoryUrl });
    await empty.checkEvaluators(evaluators).finally(() => empty.close());
    return await openLocalWorkplace(config);
  }
}

/** Whether a run has a status that it never leaves. */
export function hasEnded({ status }: Pick<Run, "status">): boolean {
  return status === "finished" || status === "cancelled" || status === "failed";
}
