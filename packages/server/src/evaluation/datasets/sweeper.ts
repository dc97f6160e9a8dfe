import type { Database } from "../../storage/schema/tables.ts";
import { sweepRevisions } from "./sweep-revisions.ts";

const intervalMs = 5 * 60_000;

export interface Sweeper {
  /** Sweeps soon: something was deleted. */
  schedule(): void;
  /** Ends after the current statement. */
  stop(): Promise<void>;
}

/** Sweeps at once, then every few minutes and when asked to. What could not be swept is swept the next time. */
export function startSweeper(database: Database, onFailure: (error: unknown) => void): Sweeper {
  const stopping = new AbortController();
  let sweeping: Promise<void> = Promise.resolve();
  let isWaiting = false;

  async function sweep(): Promise<void> {
    isWaiting = false;
    await sweepRevisions(database, stopping.signal).catch(onFailure);
  }

  function schedule(): void {
    if (isWaiting || stopping.signal.aborted) return;
    isWaiting = true;
    sweeping = sweeping.then(sweep);
  }

  const timer = setInterval(schedule, intervalMs);
  schedule();
  return {
    schedule,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await sweeping;
    },
  };
}
