import { ServiceError } from "../errors.ts";

/** Nothing was kept of what failed with one of these. SQLSTATEs of PostgreSQL by their class, which is how they begin. */
const unavailableClasses = new Set([
  "08", // connection exception
  "25", // invalid transaction state: a read-only server, a transaction that the server ended
  "28", // invalid authorization
  "3D", // no such database
  "40", // deadlock, serialization failure
  "53", // out of disk, memory or connections
  "55", // a lock that was not to be had in time, among others
  "57", // shut down, cancelled, a statement that took too long
  "58", // the server's own input and output
]);

const unavailableCodes = new Set([
  "store_unavailable",
  "store_uncertain",
  "42501", // PostgreSQL: this role may not do it
  "XX001", // PostgreSQL: corrupted data
  "XX002", // PostgreSQL: corrupted index
  "ERR_WORKER_NOT_RUNNING", // the thread of a SQLite connection died; the next statement starts it anew
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

/** The store could not do what it was asked for, and nothing of it was kept. */
export function storeUnavailable(cause: unknown): ServiceError {
  const message = "The database is not available right now. Try again in a few seconds.";
  return new ServiceError("store_unavailable", message, { cause });
}

/** The store answers, but has more to do than it has connections. Nothing was kept, and nothing is out of order. */
export function storeBusy(cause: unknown): ServiceError {
  const message = "Too many requests use the database right now. Try again in a few seconds.";
  return new ServiceError("overloaded", message, { retryAfterS: 2, cause });
}

/** The store was asked to keep a change, and did not say whether it has. */
export function storeUncertain(cause: unknown): ServiceError {
  const message =
    "The database did not confirm the change: it may or may not have been kept. " +
    "Check before you send it again, or send it with an Idempotency-Key.";
  return new ServiceError("store_uncertain", message, { cause });
}

/** Whether the store could not do what it was asked for, as opposed to «asked, and the answer is no». */
export function isStoreUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (sqlState.test(code)) return unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code);
  // SQLite's longer codes say more of the same: SQLITE_IOERR_WRITE is an SQLITE_IOERR.
  return unavailableCodes.has(code) || unavailableCodes.has(code.split("_", 2).join("_"));
}

/** Whether nobody knows if the change was kept. */
export function isStoreUncertain(error: unknown): boolean {
  return codeOf(error) === "store_uncertain";
}

/** Whether PostgreSQL gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** Whether another process has a lock on the SQLite file. */
export function isDatabaseLocked(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}

/** Whether a disk failed SQLite, other than by being full. */
export function isDiskFailure(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_IOERR");
}

/** Empty where there is none. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
