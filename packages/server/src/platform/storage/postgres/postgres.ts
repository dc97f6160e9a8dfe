import pRetry from "p-retry";

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

export interface WaitOptions {
  /** How long PostgreSQL may be down before the last error is thrown. */
  patienceMs: number;
  /** Called with the first error. */
  onDown(error: unknown): void;
}

/** Opens a database, again and again while its PostgreSQL is down. */
export async function waitForPostgres<Opened>(
  open: () => Promise<Opened>,
  { patienceMs, onDown }: WaitOptions,
): Promise<Opened> {
  let downSinceMs: number | undefined;
  return await pRetry(open, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 100,
    maxTimeout: 2_000,
    randomize: true,
    shouldRetry({ error }) {
      if (!isPostgresDown(error)) return false;
      if (downSinceMs === undefined) onDown(error);
      downSinceMs ??= performance.now();
      return performance.now() - downSinceMs < patienceMs;
    },
  });
}
