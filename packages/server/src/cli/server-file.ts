import { constants, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { generateCommandLineKey } from "../accounts/verify-api-key.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite.ts";
import { connectToServer, type ServerConnection } from "./connect-to-server.ts";

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
