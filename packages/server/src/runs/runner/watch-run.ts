import { readDatabaseClock } from "../../platform/storage/database-clock.ts";
import { microsPerMs } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { type Lease, readRunState, renewLease, runLeaseMs } from "./run-leases-store.ts";

const renewEveryMs = 8_000;
/** So that a cancelled run stops within two seconds, whichever process works on it. */
const watchEveryMs = 700;

interface WatchOptions {
  /** Nothing is looked at once it is aborted. */
  signal: AbortSignal;
  /** Whether the run has what it needs: its deployment, and room on the disk. */
  mayGoOn(): Promise<boolean>;
  /** The run was cancelled or deleted, or another process has it. */
  onLost(): void;
  /** The run is still this process's. */
  onLooked(): Promise<void>;
  onError(error: unknown): void;
}

export interface RunWatch {
  /** Looks at once. */
  look(): void;
  isPausedByUser(): boolean;
  /** Whether something that it needs was missing since the work began. */
  isHindered(): boolean;
  stop(): Promise<void>;
}

/** Looks again and again whether a run was cancelled or paused, and renews its lease. */
export function watchRun(
  database: Database,
  lease: Lease,
  { signal, mayGoOn, onLost, onLooked, onError }: WatchOptions,
): RunWatch {
  let isPausedByUser = false;
  let isHindered = false;
  let renewedAtMs = performance.now();
  let looking: Promise<void> = Promise.resolve();
  let willLook = false;

  async function look(): Promise<void> {
    if (signal.aborted) return;
    const state = await readRunState(database, lease);
    if (state === undefined || state.status === "cancelled") onLost();
    else if (state.status === "paused" && state.paused_by === "user") isPausedByUser = true;
    else if (!(await mayGoOn())) isHindered = true;
    await onLooked();
    if (performance.now() - renewedAtMs < renewEveryMs) return;
    const now = await readDatabaseClock(database);
    if (!(await renewLease(database, { ...lease, until: now + runLeaseMs * microsPerMs }))) onLost();
    renewedAtMs = performance.now();
  }

  function lookSoon(): void {
    // While the store is slow, looks would pile up.
    if (willLook) return;
    willLook = true;
    looking = looking
      .then(() => {
        willLook = false;
        return look();
      })
      // A store that is away for longer than the lease costs the run, which fails the next write.
      .catch(onError);
  }

  const timer = setInterval(lookSoon, watchEveryMs);
  return {
    look: lookSoon,
    isPausedByUser: () => isPausedByUser,
    isHindered: () => isHindered,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
