import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, sql } from "kysely";
import pRetry from "p-retry";
import { postgresDialect } from "./postgres-driver.ts";
import type { Database } from "./schema/tables.ts";
import { storeUnavailable } from "./store-error.ts";

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

const probeEveryMs = 1_000;
const probeTimeoutMs = 3_000;
/** As long as statements with a time limit wait for a response. */
const maxSilenceMs = 10_000;

/**
 * Runs work whose statements have no time limit. Its signal is aborted once PostgreSQL has not responded to another connection for
 * 10 s: without that, the work would wait forever.
 */
export async function whilePostgresResponds<Result>(
  url: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const silence = new AbortController();
  const end = new AbortController();
  const watching = watchSilence(url, silence, end.signal);
  try {
    return await work(silence.signal);
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    end.abort();
    await watching;
  }
}

async function watchSilence(url: string, silence: AbortController, end: AbortSignal): Promise<void> {
  let respondedAtMs = performance.now();
  const probe = new Kysely({
    dialect: postgresDialect(url, {
      maxConnections: 1,
      limits: { responseTimeoutMs: probeTimeoutMs },
      onConnectionLost() {},
    }),
  });
  for (;;) {
    // The first probe comes late, so that most starts need no connection for it.
    await sleep(probeEveryMs, undefined, { signal: end }).catch(() => {});
    if (end.aborted) break;
    if (await responds(probe)) respondedAtMs = performance.now();
    else if (performance.now() - respondedAtMs > maxSilenceMs) {
      silence.abort(storeUnavailable(new Error(`no response for ${maxSilenceMs / 1000} s`)));
      break;
    }
  }
  await probe.destroy();
}

/** A refusal is a response, too. */
async function responds(probe: Kysely<unknown>): Promise<boolean> {
  return await sql`select 1`.execute(probe).then(
    () => true,
    (error: unknown) => !isPostgresDown(error),
  );
}

/**
 * Throws if a pooler gives a connection another session for each transaction: a session's settings would then apply to other
 * connections, such as the long reads' read-only mode to writes. Needs two connections.
 */
export async function refuseSharedSessions(database: Database): Promise<void> {
  await database.connection().execute(async (one) => {
    const session = await readSession(one);
    // While a transaction holds a session, the pooler cannot give that to another connection.
    const isShared = await database
      .transaction()
      .execute(
        async (other) => (await readSession(other)) === session || (await readSession(one)) !== session,
      );
    if (isShared)
      throw new Error(
        "a pooler in transaction mode is in between; give it session mode (PgBouncer: pool_mode = session), or connect to PostgreSQL itself",
      );
  });
}

async function readSession(database: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  return rows[0]?.pid;
}
