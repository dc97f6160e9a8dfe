import { Database } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** How long SQLite itself waits for another connection's lock, holding up the thread that asked. */
const busyTimeoutMs = 5_000;

/** Opens a connection, set up so that a commit that returned is on disk. */
export function openSqlite(path: string): Database {
  if (path !== ":memory:") prepareFile(path);
  const database = new Database(path, { create: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Makes the file, if it is not there, for its owner's eyes only: it holds the secret under which keys are digested. A file that
 * is there is not touched: to close any descriptor of it is to drop the locks that other connections of this process hold on it
 * (POSIX), and whoever opens it next would take its log for one that nobody uses, and delete it.
 */
function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
