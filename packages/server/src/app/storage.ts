import { Worker } from "node:worker_threads";
import { ensureOwner } from "../accounts/users.ts";
import type { User } from "../accounts/users-store.ts";
import { createKeyDigest, type KeyDigest } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import { type Log, reasonOf } from "../platform/observability/logger.ts";
import { ClockSkewError, findClockSkew } from "../platform/storage/clock.ts";
import { migrations } from "../platform/storage/migrations/index.ts";
import { openDatabase } from "../platform/storage/open.ts";
import { sharedSecret } from "../platform/storage/settings-store.ts";
import { isSqlite } from "../platform/storage/sqlite/sqlite.ts";
import type { WriterData } from "../platform/storage/sqlite/sqlite-file.ts";
import type { OpenedDatabase, OpenOptions } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import { smallHeap, writerThread } from "../platform/storage/thread.ts";
import type { BackgroundWrites, LiveWrites, WriterRole } from "./writer-thread.ts";

/** An idle thread takes 10 MB. Longer than the time between two counts by tag while results arrive. */
const idleMs = 5_000;

/** The threads that write into an SQLite file. There are two, so that live writes do not wait for deleting or counting. */
export type Writers = ReturnType<typeof startWriters>;

/** Threads start with the first write. */
export function startWriters(sqlitePath: string, startWorker = startWriterWorker) {
  const start = (role: WriterRole) => (data: WriterData) => startWorker(role, data);
  const live = writerThread<LiveWrites>(sqlitePath, start("live"));
  const background = writerThread<BackgroundWrites>(sqlitePath, start("background"), idleMs);
  return {
    /** Its writes are on disk when they return. */
    live,
    /** Its writes are repeated if a power failure undoes them. */
    background,
    async end(): Promise<void> {
      // One after the other: the last SQLite connection to close removes the log, and if several closed together, none would be the last.
      await background.end();
      await live.end();
    },
  };
}

export function startWriterWorker(role: WriterRole, data: WriterData): Worker {
  return new Worker(new URL("./writer-thread.ts", import.meta.url), smallHeap({ role, ...data }));
}

/** Warns of background work that failed and will be retried. An outage of the store has its own log line. */
export function logFailure(log: Log, error: unknown, message: string, isFirst = true): void {
  if (isStoreUnavailable(error)) log.storeFailed(error);
  else if (isFirst) log.logger.warn({ err: error }, message);
}

const postgresPatienceMs = 60_000;

/** Opens the database. Machines start in any order, so the server waits for a PostgreSQL that is down. */
export async function openStore(config: Config, log: Log): Promise<OpenedStore> {
  const open = async () => {
    const store = await composeStore(config, log);
    try {
      // This process dates keys and sessions, and the database dates results, so their clocks must agree.
      const skew = await findClockSkew(store.database);
      if (skew !== undefined) throw new ClockSkewError(skew);
    } catch (error) {
      await store.destroy();
      throw error;
    }
    return store;
  };
  if (isSqlite(config.databaseUrl)) return await open();
  const { waitForPostgres } = await import("../platform/storage/postgres/connect-postgres.ts");
  return await waitForPostgres(open, {
    patienceMs: postgresPatienceMs,
    onDown: (error) =>
      log.logger.warn(
        reasonOf(error),
        `PostgreSQL is unavailable; waiting for it for up to ${postgresPatienceMs / 1000} s`,
      ),
  });
}

export interface OpenedStore extends Omit<OpenedDatabase, "migrated"> {
  owner: User;
  keyDigest: KeyDigest;
  /** Absent: the database is not an SQLite file, and is written on this thread. */
  writers: Writers | undefined;
}

/** Opens and migrates the database, and ensures its owner. */
export async function composeStore(config: Config, log: Log, options?: OpenOptions): Promise<OpenedStore> {
  const { migrated, ...opened } = await openDatabase(
    config.databaseUrl,
    log.storeFailed,
    log.storeResponded,
    options,
  );
  const { applied, newer } = migrated;
  if (applied.length === Object.keys(migrations).length)
    log.logger.info({ path: opened.sqlitePath }, "created the database");
  else if (applied.length > 0) log.logger.info({ migrated: applied }, "migrated the database");
  if (newer.length > 0)
    log.logger.warn(
      { newer },
      "the database is of a newer version of Presage, which lets this one run on it",
    );
  try {
    const keyDigest = createKeyDigest(await sharedSecret(opened.database, "api_key_digest"));
    const writers = opened.sqlitePath === undefined ? undefined : startWriters(opened.sqlitePath);
    return {
      ...opened,
      owner: await ensureOwner(opened.database),
      keyDigest,
      writers,
      async destroy() {
        await writers?.end();
        await opened.destroy();
      },
    };
  } catch (error) {
    await opened.destroy();
    throw error;
  }
}
