import type { Config } from "../config/config.ts";
import type { DatasetServices } from "../datasets/dataset-services.ts";
import { sweepRevisions } from "../datasets/revisions-store.ts";
import { uploadInPlace, uploadInThreads } from "../datasets/upload/run-upload.ts";
import type { Log } from "../platform/observability/logger.ts";
import { diskFloorOf } from "../platform/storage/sqlite.ts";
import { isInMemory, type OpenedDatabase } from "../platform/storage/open.ts";
import { startSweeper } from "../platform/storage/leases.ts";
import { logFailure } from "./log-failure.ts";

const sweepIntervalMs = 5 * 60_000;

/** What datasets need. Sweeps what earlier processes left behind. */
export function composeDatasets(
  config: Config,
  log: Log,
  { database }: Pick<OpenedDatabase, "database">,
): DatasetServices & { dispose(): Promise<void> } {
  const sweeper = startSweeper({
    sweep: (signal) => sweepRevisions(database, signal),
    intervalMs: sweepIntervalMs,
    onFailure: (error) => logFailure(log, error, "could not delete the rows of deleted datasets; will retry"),
  });
  // An in-memory database belongs to its one connection.
  const uploads = isInMemory(config.databaseUrl)
    ? uploadInPlace(database)
    : uploadInThreads(config.databaseUrl);
  return {
    ...config.datasets,
    floor: diskFloorOf(config),
    uploads,
    sweeper,
    async dispose() {
      await uploads.stop();
      await sweeper.stop();
    },
  };
}
