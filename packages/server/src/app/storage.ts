import type { Config } from "../config/config.ts";
import { type Log, reasonOf } from "../platform/observability/logger.ts";
import { ClockSkewError, findClockSkew } from "../platform/storage/clock.ts";
import { waitForPostgres } from "../platform/storage/postgres.ts";
import { isSqlite } from "../platform/storage/sqlite.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import { composeStore, type OpenedStore } from "./compose-command-line.ts";

/** Warns of background work that failed and is retried. An outage of the store has a log line of its own. */
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
      await refuseWrongClock(store);
    } catch (error) {
      await store.destroy();
      throw error;
    }
    return store;
  };
  if (isSqlite(config.databaseUrl)) return await open();
  return await waitForPostgres(open, {
    patienceMs: postgresPatienceMs,
    onDown: (error) =>
      log.logger.warn(
        reasonOf(error),
        `PostgreSQL is unavailable; waiting for it for up to ${postgresPatienceMs / 1000} s`,
      ),
  });
}

/** This process dates keys and sessions, the database dates results, so their clocks must agree. */
async function refuseWrongClock({ database }: OpenedStore): Promise<void> {
  const skew = await findClockSkew(database);
  if (skew !== undefined) throw new ClockSkewError(skew);
}
