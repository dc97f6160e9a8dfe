import { constants, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Dataset, Run } from "@presage/contract";
import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { z } from "zod";
import { generateCommandLineKey } from "../accounts/verify-api-key.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import { instanceHeader } from "../app/probes.ts";
import { composeStore, type OpenedStore } from "../app/storage.ts";
import { type Config, withoutCredentials } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { readInstances } from "../platform/storage/settings-store.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { CommandError } from "./command.ts";

/** Makes one call, retries included. */
export type CallServer = <Value>(work: (presage: Presage) => Promise<Value>) => Promise<Value>;

/** What a command works on: a server, or the owner's data in the configured database. */
export interface Connection {
  call: CallServer;
  /** Where the dashboard is; undefined while no server runs. */
  findOrigin(): Promise<string | undefined>;
  /** Whether this connection can replay episodes. */
  replays: boolean;
}

export interface ServerConnection extends Connection {
  origin: string;
}

/** The options of commands that work on a server or a database. */
export interface ConnectionOptions {
  server?: string | undefined;
}

/** Longer than any deadline that a server can be configured with, so that the server gives up first. */
export const timeoutMs = 25 * 3_600_000;

/**
 * Connects to the Presage at `server`, which may end in the `/v1` that OpenAI clients need. An address without a scheme gets https,
 * so that no key is sent in plain text by accident, or http if it is on this machine.
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
  const { origin } = new URL(baseUrl);
  return {
    origin,
    replays: true,
    findOrigin: async () => origin,
    async call(work) {
      try {
        return await work(presage);
      } catch (error) {
        // The response of another kind of server has other fields.
        if (error instanceof TypeError && (await findInstance(baseUrl)) === undefined)
          throw new CommandError(`${address} does not answer as Presage does`);
        if (!(error instanceof PresageError)) throw error;
        if (error.category === "unauthenticated")
          throw new CommandError(`${address} rejects the API key in ${keyPlace}`);
        // If no Presage responded, the message already has the address.
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

/** A dataset by its name or id. */
export async function findDataset({ call }: Connection, nameOrId: string): Promise<Dataset | undefined> {
  const all = await call(({ datasets }) => datasets.list());
  return all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId.toLowerCase());
}

/** A dataset by its name or id; throws a `CommandError` if there is none. */
export async function getDataset(connection: Connection, nameOrId: string): Promise<Dataset> {
  const dataset = await findDataset(connection, nameOrId);
  if (dataset !== undefined) return dataset;
  throw new CommandError(`There is no dataset ${nameOrId}.`);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxNamedIds = 5;

/** A run by its id, or by a name that no other run has. */
export async function findRun({ call }: Connection, nameOrId: string): Promise<Run> {
  if (uuid.test(nameOrId)) return await call(({ runs }) => runs.get(nameOrId.toLowerCase()));
  const [run, ...others] = await call(({ runs }) => runs.list({ name: nameOrId }));
  if (run === undefined) throw new CommandError(`There is no run ${nameOrId}.`);
  if (others.length === 0) return run;
  const ids = [run, ...others].slice(0, maxNamedIds).map(({ id }) => `  ${id}`);
  throw new CommandError(
    [`${others.length + 1} runs are named ${nameOrId}. Give an id; the newest are:`, ...ids].join("\n"),
  );
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
 * The file next to an SQLite database by which commands find the server that runs on it; undefined if the database is not a file. It
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
      // Renamed into place, so that a command never reads part of the file.
      await rename(partial, path).finally(() => rm(partial, { force: true }));
    },
    async remove(): Promise<void> {
      // Another server on the database may have written its own file. Failure to remove this one is ignored.
      const text = await readFile(path, "utf8").catch(() => "");
      if (text.includes(key)) await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** Connects to the server on the configured SQLite database; undefined if none answers, or if the command has its own models to ask. */
export async function connectToRunningServer(config: Config): Promise<ServerConnection | undefined> {
  const path = pathFor(config.databaseUrl);
  const hasOwnModels = !needsSandbox(config) || config.judge.url !== undefined;
  const found = path === undefined || hasOwnModels ? undefined : await findRunningServer(path);
  if (found === undefined) return undefined;
  const { origin } = new URL(found.publicUrl);
  return { ...connectToServer(found.address, found.key, path), origin, findOrigin: async () => origin };
}

/** `data/presage.server.json` for `data/presage.db`. */
function pathFor(databaseUrl: string): string | undefined {
  if (!isSqlite(databaseUrl) || isInMemory(databaseUrl)) return undefined;
  return `${resolve(sqlitePath(databaseUrl)).replace(/\.db$/, "")}.server.json`;
}

/** Undefined unless the server's process is alive and answers. A file that others could have written might lead anywhere. */
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
  // Without waiting for a writer if the file is a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { uid, mode } = await file.stat();
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) return undefined;
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** A database in a message. */
export function databaseName(url: string): string {
  return isSqlite(url) && !isInMemory(url) ? resolve(sqlitePath(url)) : withoutCredentials(url);
}

export function refuseInMemory({ databaseUrl }: Config): void {
  if (isInMemory(databaseUrl))
    throw new CommandError("PRESAGE_DATABASE_URL is sqlite::memory:, a database that no other process sees.");
}

/** Opens the configured database, which by default must exist, for one command. Servers may run at the same time. */
export async function withDatabase(
  config: Config,
  work: (store: OpenedStore) => Promise<void>,
  options: OpenOptions = { mustExist: true },
): Promise<void> {
  refuseInMemory(config);
  const store = await composeStore(config, createLog("silent"), { readsInPlace: true, ...options });
  try {
    await work(store);
  } finally {
    await store.destroy();
  }
}

const pageSize = 1_000;

/** The rows of a list that is read page by page: all, or the first `most`. */
export async function readAll<Row, Position = Keyset>(
  readPage: (page: {
    limit: number;
    after: Position | undefined;
  }) => Promise<{ rows: Row[]; next: Position | undefined }>,
  most = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const all: Row[] = [];
  let after: Position | undefined;
  do {
    const { rows, next } = await readPage({ limit: Math.min(pageSize, most - all.length), after });
    all.push(...rows);
    after = next;
  } while (after !== undefined && all.length < most);
  return all;
}

const readyTimeoutMs = 3_000;
/** Only the latest addresses are tried: earlier servers have most likely crashed. */
const maxAddresses = 10;

interface FoundServer {
  /** Where browsers reach a running server on the database. */
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

/** The id of the instance that answers there and accepts requests; empty if it does not give one. */
async function findInstance(address: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${address}/ready`, { signal: AbortSignal.timeout(readyTimeoutMs) });
    const isReady = response.ok && (await response.text()).includes('"ready"');
    return isReady ? (response.headers.get(instanceHeader) ?? "") : undefined;
  } catch {
    return undefined;
  }
}
