/** The codes that say «could not ask», as opposed to «asked, and the answer is no». */
const unavailableCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ERR_WORKER_NOT_RUNNING", // the thread of a SQLite connection died; the next statement starts it anew
  "ETIMEDOUT",
  "53300", // PostgreSQL: too many connections
  "57P01", // PostgreSQL: admin shutdown
  "57P02", // PostgreSQL: crash shutdown
  "57P03", // PostgreSQL: cannot connect now
  "SQLITE_BUSY",
  "SQLITE_CANTOPEN",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  "SQLITE_LOCKED",
]);

/** What `pg` says, without a code, of a connection that it lost or did not get in time. */
const unavailableMessages =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|connection ended|client has encountered a connection error|not queryable/i;

/** Whether the store could not be reached, so that trying again later may work. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isStoreUnavailable);
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // SQLite's longer codes say more of the same: SQLITE_IOERR_WRITE is an SQLITE_IOERR.
  const primaryCode = code.split("_", 2).join("_");
  const isUnavailable = unavailableCodes.has(code) || unavailableCodes.has(primaryCode);
  return isUnavailable || code.startsWith("08") || unavailableMessages.test(error.message);
}
