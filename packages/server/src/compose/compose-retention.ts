import type { Config } from "../config/config.ts";
import { selectNextDeletion } from "../evaluation/results/delete/result-deletions-store.ts";
import type { Log } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import { endLease, takeLease } from "../storage/leases-store.ts";
import type { OpenedDatabase } from "../storage/opening/open-database.ts";
import { isStoreUnavailable } from "../storage/store-error.ts";
import { startSweeper } from "../storage/sweeper.ts";
import type { DeletedBatch } from "../storage/writing/delete-in-batches.ts";
import { deleteInThread } from "./retention/delete-in-thread.ts";
import { type DeletionStep, type Place, takeDeletionStep } from "./retention/deletion-step.ts";
import { type DeletionWork, deleteWhatIsChosen, deleteWhatIsOld } from "./retention/work-on-deletions.ts";

const ageIntervalMs = 10 * 60_000;
/** What another process left in the middle is found so soon. */
const lookIntervalMs = 5_000;
/** Of a process that ended without a word. */
const leaseMs = 5_000;
const renewAfterMs = 1_500;

export interface ComposedRetention {
  /** Works on deletions by filter: there is one. */
  schedule(): void;
  dispose(): Promise<void>;
}

interface RetentionOptions {
  metrics: Pick<Metrics, "deletedRows" | "deletionSeconds" | "deletionsComplete">;
  /** Results were deleted: what they were counted in changes. */
  onResultsDeleted(): void;
}

/** Deletes what is too old and what somebody chose. Of several processes one at a time does each. */
export function composeRetention(
  { retention }: Pick<Config, "retention">,
  log: Log,
  { database, sqlitePath }: Pick<OpenedDatabase, "database" | "sqlitePath">,
  { metrics, onResultsDeleted }: RetentionOptions,
): ComposedRetention {
  log.logger.info({ ...retention }, "days after which data is deleted");
  const thread = sqlitePath === undefined ? undefined : deleteInThread(sqlitePath);
  const holder = Bun.randomUUIDv7();

  const work: DeletionWork = {
    database,
    // Each kind of step has its own kind of place.
    takeStep: async <Next extends Place>(step: DeletionStep) =>
      (await (thread?.send(step) ?? takeDeletionStep(database, step))) as DeletedBatch<Next>,
    onDeleted(kind, rows, heldMs) {
      metrics.deletedRows([kind === "chosen results" ? "results" : kind], rows);
      metrics.deletionSeconds.observe(heldMs / 1_000);
      if (kind.endsWith("results")) onResultsDeleted();
    },
  };

  let working = 0;

  /** Does something unless another process does it, and only as long. Returns whether it was done. */
  async function alone(
    name: string,
    signal: AbortSignal,
    act: (work: DeletionWork, signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    const lease = { name, holder, forMs: leaseMs };
    if (!(await takeLease(database, lease))) return false;
    working += 1;
    let renewedAtMs = performance.now();
    const lost = new AbortController();
    const whileHeld: DeletionWork = {
      ...work,
      async takeStep(step) {
        if (performance.now() - renewedAtMs > renewAfterMs) {
          if (!(await takeLease(database, lease))) lost.abort();
          renewedAtMs = performance.now();
        }
        return await work.takeStep(step);
      },
    };
    try {
      await act(whileHeld, AbortSignal.any([signal, lost.signal]));
      return !lost.signal.aborted;
    } finally {
      working -= 1;
      // It would keep 10 MB until the next time.
      if (working === 0) await thread?.end();
      await endLease(database, lease);
    }
  }

  function warn(error: unknown): void {
    if (isStoreUnavailable(error)) log.storeFailed(error);
    else log.logger.warn({ err: error }, "could not delete what is to be deleted; will retry");
  }

  let nextAtMs = 0;
  const age = startSweeper({
    async sweep(signal) {
      if (performance.now() < nextAtMs) return;
      const isDone = await alone("retention", signal, (held, until) =>
        deleteWhatIsOld(held, retention, until),
      );
      if (!isDone || signal.aborted) return;
      nextAtMs = performance.now() + ageIntervalMs;
      metrics.deletionsComplete.set(Date.now() / 1_000);
    },
    intervalMs: lookIntervalMs,
    onFailure: warn,
  });
  const chosen = startSweeper({
    async sweep(signal) {
      if ((await selectNextDeletion(database)) === undefined) return;
      await alone("result deletions", signal, deleteWhatIsChosen);
    },
    intervalMs: lookIntervalMs,
    onFailure: warn,
  });
  return {
    schedule: chosen.schedule,
    async dispose() {
      await Promise.all([age.stop(), chosen.stop()]);
      await thread?.end();
    },
  };
}
