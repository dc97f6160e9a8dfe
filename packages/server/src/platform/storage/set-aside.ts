import { Database } from "bun:sqlite";
import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { isDatabaseLocked } from "./store-error.ts";

/** A process has the database open. */
export class DatabaseInUseError extends Error {
  constructor(path: string) {
    super(`${path} is in use. Stop the servers and commands that use it, then try again.`);
    this.name = "DatabaseInUseError";
  }
}

/** Whether it was left as one file, which is so unless it is damaged. Refused while any process has it open. */
function closeLog(path: string): boolean {
  try {
    const database = new Database(path, { readwrite: true });
    try {
      database.run("PRAGMA busy_timeout = 0");
      // Only the last connection may leave the mode with a log.
      database.run("PRAGMA journal_mode = DELETE");
    } finally {
      database.close();
    }
    return true;
  } catch (error) {
    if (isDatabaseLocked(error)) throw new DatabaseInUseError(path);
    return false;
  }
}

/**
 * Gives the database at `path` a second name, `aside`, so that another file can take its place. It stays at `path` until then.
 * @throws DatabaseInUseError
 */
export function setAside(path: string, aside: string): void {
  const isOneFile = closeLog(path);
  try {
    linkSync(path, aside);
  } catch {
    // A file system without links.
    copyFileSync(path, aside, constants.COPYFILE_EXCL);
  }
  if (!isOneFile && existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  // The log of a damaged database must not be applied to the one that replaces it.
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}
