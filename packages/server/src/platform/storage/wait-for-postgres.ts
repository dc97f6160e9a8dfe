import pRetry from "p-retry";
import { isPostgresDown } from "./is-postgres-down.ts";

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
