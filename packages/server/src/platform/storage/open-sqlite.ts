import { Database } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** How long SQLite itself waits for another connection's lock, blocking the calling thread. */
export const busyTimeoutMs = 5_000;

/** Opens a connection whose commits are on disk when they return. */
export function openSqlite(path: string): Database {
  if (path !== ":memory:") createFile(path);
  const database = new Database(path, { create: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    // What is deleted is overwritten; `fast` would leave the texts in free pages.
    database.run("PRAGMA secure_delete = ON");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** The same for reads only. */
export function openSqliteReader(path: string): Database {
  const database = openSqlite(path);
  database.run("PRAGMA query_only = ON");
  return database;
}

/**
 * Creates a missing file, readable by its owner only: it holds the secret for digests of API keys. An existing file is not
 * opened: closing any descriptor of it drops the locks of this process's other connections (POSIX), and the next process to
 * open it would take its log for abandoned and delete it.
 */
function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
