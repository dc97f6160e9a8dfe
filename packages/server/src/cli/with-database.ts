import { resolve } from "node:path";
import { composeStore, type OpenedStore } from "../app/compose-command-line.ts";
import { type Config, withoutCredentials } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite.ts";
import { CommandError } from "./command-error.ts";

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
