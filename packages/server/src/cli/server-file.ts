import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { needsSandbox } from "../compose/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { generateCommandLineKey } from "../identity/command-line-key.ts";
import { isInMemory, isSqlite, sqlitePath } from "../storage/opening/open-database.ts";
import { connectToServer, type ServerConnection } from "./connect-to-server.ts";

const answerTimeoutMs = 3_000;
/** Of the group and of everyone else. */
const othersPermissions = 0o077;

/** What the file says of the server. */
const RunningServer = z.object({
  address: z.url(),
  publicUrl: z.url(),
  key: z.string(),
  processId: z.int().positive(),
});
type RunningServer = z.infer<typeof RunningServer>;

/**
 * The file beside an SQLite database by which commands find the server that runs on it. It grants its reader no more than the database
 * does, and only the server's user can read it.
 */
export interface ServerFile {
  /** Of this start of the server. */
  key: string;
  write(address: string, publicUrl: string): Promise<void>;
  remove(): Promise<void>;
}

/** Undefined if the database is no file. */
export function createServerFile(databaseUrl: string): ServerFile | undefined {
  const path = pathFor(databaseUrl);
  if (path === undefined) return undefined;
  const key = generateCommandLineKey();
  return {
    key,
    async write(address, publicUrl) {
      const server: RunningServer = { address, publicUrl, key, processId: process.pid };
      const partial = `${path}.${process.pid}`;
      await rm(partial, { force: true });
      await writeFile(partial, JSON.stringify(server), { mode: 0o600, flag: "wx" });
      // A command that reads meanwhile gets all of it.
      await rename(partial, path);
    },
    async remove() {
      // Another server on the database may have written its own. What is left of this one is ignored.
      const text = await readFile(path, "utf8").catch(() => "");
      if (text.includes(key)) await rm(path, { force: true }).catch(() => {});
    },
  };
}

/**
 * Connects to the server that runs on the configured SQLite database. Undefined if none answers, or if the command is configured to ask
 * models of its own.
 */
export async function connectToRunningServer(config: Config): Promise<ServerConnection | undefined> {
  const path = pathFor(config.databaseUrl);
  const hasOwnModels = !needsSandbox(config) || config.judge.url !== undefined;
  if (path === undefined || hasOwnModels) return undefined;
  const found = await readRunningServer(path);
  if (found === undefined || !isAlive(found.processId) || !(await isAnswering(found))) return undefined;
  return { ...connectToServer(found.address, found.key, path), origin: new URL(found.publicUrl).origin };
}

/** `data/presage.server.json` for `data/presage.db`. */
function pathFor(databaseUrl: string): string | undefined {
  if (!isSqlite(databaseUrl) || isInMemory(databaseUrl)) return undefined;
  return `${resolve(sqlitePath(databaseUrl)).replace(/\.db$/, "")}.server.json`;
}

/** Undefined without a file that only this user can have written: another could lead anywhere. */
async function readRunningServer(path: string): Promise<RunningServer | undefined> {
  try {
    await using file = await open(path);
    const { uid, mode } = await file.stat();
    if (uid !== process.getuid?.() || (mode & othersPermissions) !== 0) return undefined;
    return RunningServer.parse(JSON.parse(await file.readFile("utf8")));
  } catch {
    return undefined;
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

async function isAnswering({ address, key }: RunningServer): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    return (await fetch(`${address}/v1/me`, { headers: { "x-api-key": key }, redirect: "error", signal })).ok;
  } catch {
    return false;
  }
}
