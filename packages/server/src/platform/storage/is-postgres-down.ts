const networkCodes = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT", // no socket at the path
  "ENOTFOUND", // a container that is not started has no name yet
  "EPIPE",
  "ETIMEDOUT",
]);
/** SQLSTATEs of connections: lost, not accepted yet or no longer. */
const connectionStates = /^(08|57P)/;
/** Errors without a code: the driver's and our own. */
const lostOrSilent =
  /^(Connection terminated|timeout e|Query read timeout|the connection was closed|no response)/;

/** Whether PostgreSQL is down, starting or silent, so that waiting helps, as opposed to one that refuses the client or its database. */
export function isPostgresDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause instanceof Error) return isPostgresDown(error.cause);
  if (error instanceof AggregateError) return error.errors.some(isPostgresDown);
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === undefined) return lostOrSilent.test(error.message);
  return networkCodes.has(code) || connectionStates.test(code);
}
