import { ServiceError } from "../errors.ts";
import { commandName } from "../words.ts";

/** The database could not be opened; the message says why. */
export class OpenDatabaseError extends Error {
  constructor(error: unknown) {
    const cause = error instanceof ServiceError ? error.cause : error;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "no response";
    super(`Could not open the database (PRESAGE_DATABASE_URL): ${reason}`, { cause });
    this.name = "OpenDatabaseError";
  }
}

/** There is no database of Presage at the URL, and the caller did not want one created. */
export class NoDatabaseError extends Error {
  constructor(place: string) {
    super(
      `There is no Presage database at ${place}. Check PRESAGE_DATABASE_URL and the current folder; ${commandName} migrate, or the server's first start, creates a database.`,
    );
    this.name = "NoDatabaseError";
  }
}

/** Classes of PostgreSQL's SQLSTATEs (their first two characters) after which nothing was stored. */
const unavailableClasses = new Set([
  "08", // connection exception
  "25", // invalid transaction state: a read-only server, a transaction ended by the server
  "28", // invalid authorization
  "3D", // no such database
  "40", // deadlock, serialization failure
  "53", // out of disk, memory or connections
  "55", // object not in prerequisite state: a lock timeout, among others
  "57", // operator intervention: shutdown, cancellation, a statement timeout
  "58", // I/O error of the server
]);

const unavailableCodes = new Set([
  "store_unavailable",
  "store_uncertain",
  "42501", // PostgreSQL: insufficient privilege
  "XX001", // PostgreSQL: corrupted data
  "XX002", // PostgreSQL: corrupted index
  "ERR_WORKER_NOT_RUNNING", // the thread of an SQLite connection died; the next statement starts another
  "SQLITE_AUTH",
  "SQLITE_BUSY",
  "SQLITE_CANTOPEN",
  "SQLITE_CORRUPT",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  "SQLITE_LOCKED",
  "SQLITE_NOLFS",
  "SQLITE_NOMEM",
  "SQLITE_NOTADB",
  "SQLITE_PERM",
  "SQLITE_PROTOCOL",
  "SQLITE_READONLY",
]);

const sqlState = /^[0-9A-Z]{5}$/;

/** The database failed, and nothing was stored. */
export function storeUnavailable(cause: unknown): ServiceError {
  const message = "The database is unavailable. Try again in a few seconds.";
  return new ServiceError("store_unavailable", message, { cause });
}

/** The database works, but all connections are in use. Nothing was stored. */
export function storeBusy(cause: unknown): ServiceError {
  const message = "All database connections are in use. Try again in a few seconds.";
  return new ServiceError("overloaded", message, { retryAfterS: 2, cause });
}

export function storeUncertain(cause: unknown): ServiceError {
  const message =
    "The database did not confirm the change: it may or may not have been stored. " +
    "Check before you send it again, or use an Idempotency-Key.";
  return new ServiceError("store_uncertain", message, { cause });
}

/** Whether the database is at fault, as opposed to the statement. */
export function isStoreUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (sqlState.test(code)) return unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code);
  // SQLite's extended codes start with the primary one: SQLITE_IOERR_WRITE is an SQLITE_IOERR.
  return unavailableCodes.has(code) || unavailableCodes.has(code.split("_", 2).join("_"));
}

/** Whether the database refuses a value of a row, and would refuse it again. */
export function isRefusedValue(error: unknown): boolean {
  return /^(?:2[23][0-9A-Z]{3}|SQLITE_(?:CONSTRAINT|MISMATCH)(?:_.*)?)$/.test(codeOf(error));
}

/** Whether a row refers to one that does not exist. */
export function isMissingReference(error: unknown): boolean {
  return /^(?:23503|SQLITE_CONSTRAINT_FOREIGNKEY)$/.test(codeOf(error));
}

/** Whether it is unknown if the change was stored. */
export function isStoreUncertain(error: unknown): boolean {
  return codeOf(error) === "store_uncertain";
}

/** Whether PostgreSQL undid the transaction in favour of another. It can be retried immediately. */
export function isDeadlock(error: unknown): boolean {
  return /^40(?:001|P01)$/.test(codeOf(error));
}

/** Whether PostgreSQL's wait for a lock timed out. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** Whether another process has a lock on the SQLite file. */
export function isDatabaseLocked(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** Whether SQLite's disk failed, other than by being full. */
export function isDiskFailure(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_IOERR");
}

/** The error's code; empty if there is none. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
