import type { Config } from "../config/config.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import { seeClock } from "../platform/storage/clock.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { startLooking, withLease } from "../platform/storage/leases.ts";
import { emptyLog } from "../platform/storage/sqlite/sqlite.ts";
import { type Capture, createCapture } from "../predictions/capture.ts";
import { insertLivePredictions } from "../predictions/stored-predictions-store.ts";
import { toStoredRows } from "../predictions/stored-rows.ts";
import { selectNextDeletion } from "../results/delete/deleted-results-store.ts";
import { type DeletionWork, deleteWhatIsChosen, deleteWhatIsOld, takeDeletionStep } from "./deletions.ts";
import { logFailure, type OpenedStore } from "./storage.ts";

/** People look up predictions right after making them. */
const captureIntervalMs = 1_000;

/** Stores predictions of clients. */
export function composeCapture(
  { capture: { setting }, retention, patience }: Config,
  log: Log,
  { database, writers }: Pick<OpenedStore, "database" | "writers">,
  { memory, metrics }: { memory: ByteBudget; metrics: Metrics },
): Capture {
  const { logger } = log;
  // Created at 0: a counter that begins with the first loss shows no increase.
  for (const outcome of ["written", "dropped"]) metrics.captured([outcome], 0);
  // Short, as a line in a terminal has 80 columns.
  if (setting === "off") logger.info("predictions are stored only for keys set to capture");
  else logger.info({ setting, maxAgeDays: retention.predictions }, "predictions are stored");
  return createCapture({
    setting,
    memory,
    intervalMs: captureIntervalMs * patience,
    async write(predictions) {
      const rows = toStoredRows(predictions);
      await (writers?.live.send("captured", JSON.stringify(rows)) ?? insertLivePredictions(database, rows));
    },
    onFailure: (error, isFirst) =>
      logFailure(log, error, "could not store captured predictions; will retry", isFirst),
    onDropped(error, isFirst) {
      if (!isFirst) return;
      const why = error === undefined ? {} : { err: error };
      logger.warn(why, "captured predictions are dropped until they can be stored again");
    },
    count: (outcome, predictions) => metrics.captured([outcome], predictions),
  });
}

const ageIntervalMs = 10 * 60_000;
/** How soon a process notices work that another one left unfinished. */
const lookIntervalMs = 5_000;
/** Deleted texts are gone from SQLite's files within a minute, after a few attempts. */
const logIntervalMs = 15_000;
const clockJumped =
  "the clock jumped by days since a server last ran; nothing is deleted by age for 24 h of running. Correct the clock if it is wrong";

interface RetentionOptions {
  metrics: Pick<Metrics, "deletedRows" | "deletionSeconds" | "deletionsComplete" | "retentionWaits">;
  /** Called when results were deleted, as counts and rollups change. */
  onResultsDeleted(): void;
}

/** Deletes data that is too old or was chosen by a filter. Only one process at a time does each. */
export function composeRetention(
  { retention, patience }: Pick<Config, "retention" | "patience">,
  log: Log,
  store: Pick<OpenedStore, "database" | "reader" | "sqlitePath" | "writers">,
  options: RetentionOptions,
) {
  const { metrics } = options;
  log.logger.info({ ...retention }, "days after which data is deleted");
  const { database } = store;
  const alone = deletingAlone(store, options);
  const onFailure = (error: unknown) =>
    logFailure(log, error, "could not delete old or chosen data; will retry");

  let waits = false;
  // Set from the start, so that deletions which never succeed are noticed, too.
  metrics.deletionsComplete.set(Date.now() / 1_000);

  /** Deletes by age, unless the clock may be wrong: deleted data is gone for good. */
  async function deleteByAge(held: DeletionWork, until: AbortSignal): Promise<void> {
    const { now, believed, jumped } = await seeClock(database);
    const times = { clock: toIsoInstant(now), lastRun: toIsoInstant(believed) };
    if (jumped !== undefined && !waits) log.logger.warn(times, clockJumped);
    else if (jumped === undefined && waits) log.logger.info(times, "data is deleted by age again");
    waits = jumped !== undefined;
    metrics.retentionWaits.set(waits ? 1 : 0);
    if (!waits) await deleteWhatIsOld(held, retention, now, until);
  }

  let nextAtMs = 0;
  const age = startLooking({
    async look(signal) {
      if (performance.now() < nextAtMs) return;
      if (!(await alone("retention", signal, deleteByAge)) || signal.aborted) return;
      nextAtMs = performance.now() + ageIntervalMs;
      if (!waits) metrics.deletionsComplete.set(Date.now() / 1_000);
    },
    intervalMs: lookIntervalMs * patience,
    onFailure,
  });
  const chosen = startLooking({
    async look(signal) {
      if ((await selectNextDeletion(database)) === undefined) return;
      await alone("result deletions", signal, deleteWhatIsChosen);
    },
    intervalMs: lookIntervalMs * patience,
    onFailure,
  });
  const emptying = startLooking({
    look: (signal) => emptyLog(store, signal),
    intervalMs: logIntervalMs * patience,
    // Delayed, because it starts a thread, for which a starting server has no time.
    firstAfterInterval: true,
    onFailure: (error) => logFailure(log, error, "could not empty the database's log; will retry"),
  });
  return {
    /** To be called when there is a deletion by filter. */
    schedule: chosen.schedule,
    async dispose() {
      await Promise.all([age.stop(), chosen.stop(), emptying.stop()]);
    },
  };
}

/** Deletes unless another process is doing so. Returns whether it was done. */
function deletingAlone(
  { database, writers }: Pick<OpenedStore, "database" | "writers">,
  { metrics, onResultsDeleted }: RetentionOptions,
) {
  const holder = Bun.randomUUIDv7();
  return (
    name: string,
    signal: AbortSignal,
    act: (work: DeletionWork, signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> =>
    withLease(database, { name, holder }, signal, async ({ renew, signal }) => {
      const work: DeletionWork = {
        database,
        async takeStep(step) {
          await renew();
          return await (writers?.background.send("deletions", step) ?? takeDeletionStep(database, step));
        },
        onDeleted(kind, rows, heldMs) {
          if (kind === "empty counts") return;
          metrics.deletedRows([kind === "chosen results" ? "results" : kind], rows);
          metrics.deletionSeconds.observe(heldMs / 1_000);
          if (kind.endsWith("results")) onResultsDeleted();
        },
      };
      await act(work, signal);
    });
}
