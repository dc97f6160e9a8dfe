import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isProcessRunning } from "./leases.ts";
import { mayRunOn, newerSchemaError, oldestVersionSetting, readSchemaOf, SchemaError } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import { isDatabaseLocked } from "./store-error.ts";

/** A file that cannot be used as the database; the message says why. */
export class DatabaseFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DatabaseFileError";
  }
}

/**
 * Checks that the file at `path` is a sound database of this version of Presage, or an older one, and returns its last migration.
 * @throws DatabaseFileError, SchemaError
 */
export function checkSqlite(path: string): string {
  const database = new Database(path, { readwrite: true });
  try {
    const [problem] = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)")
      .all()
      .map((row) => row.integrity_check);
    if (problem !== "ok") throw new DatabaseFileError(`It is damaged: ${problem}`);
    const { applied, setting } = readSchemaOf(database);
    if (applied === undefined) throw new DatabaseFileError("It has no data of Presage.");
    const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
    if (unknown.length > 0 && !mayRunOn(applied, setting(oldestVersionSetting)))
      throw newerSchemaError(unknown);
    return applied.at(-1) ?? "";
  } catch (error) {
    if (error instanceof DatabaseFileError || error instanceof SchemaError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseFileError(`It is not a sound database: ${reason}`);
  } finally {
    database.close();
  }
}

/**
 * Writes the database at `path`, as it is now, into the empty file at `copy`. Other connections may write meanwhile: neither side
 * waits for the other. SQLite's backup interface would start again at every write of another process.
 */
export function copySqlite(path: string, copy: string): void {
  // Not read-only: such a connection would leave its side files behind.
  const database = new Database(path, { readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    database.run("VACUUM INTO ?", [copy]);
  } finally {
    database.close();
  }
}

const suffix = ".partial-";

/**
 * Has `write` fill an empty file next to the one `named`, and then gives it that name. Whenever the process or the machine stops, either
 * the old file or the whole new one is there. Partial files of ended processes are removed. Only its owner can read the file, unless it
 * `isShared`: then it takes the mode of the file that it replaces, and a link to that stays a link.
 */
export async function replaceFile(
  named: string,
  write: (partial: string) => Promise<void>,
  { isShared = false } = {},
): Promise<void> {
  const path = isShared && existsSync(named) ? realpathSync(named) : named;
  const before = isShared ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true });
  removeLeftovers(path);
  const partial = `${path}${suffix}${process.pid}`;
  closeSync(openSync(partial, "wx", isShared ? 0o666 : 0o600));
  try {
    if (before !== undefined) chmodSync(partial, before.mode);
    await write(partial);
    flush(partial);
    renameSync(partial, path);
    flush(folder);
  } finally {
    for (const file of [partial, `${partial}-wal`, `${partial}-shm`, `${partial}-journal`])
      rmSync(file, { force: true });
  }
}

function removeLeftovers(path: string): void {
  const start = basename(path) + suffix;
  for (const name of readdirSync(dirname(path)).filter((each) => each.startsWith(start))) {
    const pid = Number.parseInt(name.slice(start.length), 10);
    if (pid === process.pid || !isProcessRunning(pid)) rmSync(join(dirname(path), name), { force: true });
  }
}

/** Returns once a file, or the names in a folder, are on disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A process has the database open. */
export class DatabaseInUseError extends Error {
  constructor(path: string) {
    super(`${path} is in use. Stop the servers and commands that use it, then try again.`);
    this.name = "DatabaseInUseError";
  }
}

/** Returns whether the database was left as one file, which it is unless it is damaged. Refuses while any process has it open. */
function closeLog(path: string): boolean {
  try {
    const database = new Database(path, { readwrite: true });
    try {
      database.run("PRAGMA busy_timeout = 0");
      // Only the last connection may switch off the log.
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
 * Gives the database at `path`, if there is one, a second name, `aside`, so that another file can take its place. It stays at `path`
 * until then.
 * @throws DatabaseInUseError
 */
export function setAside(path: string, aside: string): void {
  let isOneFile = false;
  if (existsSync(path)) {
    isOneFile = closeLog(path);
    try {
      linkSync(path, aside);
    } catch {
      // The file system has no links.
      copyFileSync(path, aside, constants.COPYFILE_EXCL);
    }
  }
  if (!isOneFile && existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  // The log of a database that is damaged, or gone, must not be applied to the one that replaces it.
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}
