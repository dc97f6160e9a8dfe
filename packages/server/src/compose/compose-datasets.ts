import type { Config } from "../config.ts";
import type { DatasetServices } from "../evaluation/datasets/dataset-services.ts";
import { startSweeper } from "../evaluation/datasets/sweeper.ts";
import { uploadRevision } from "../evaluation/datasets/upload/upload-revision.ts";
import type { Log } from "../observability/logger.ts";
import type { OpenedDatabase } from "../storage/open-database.ts";
import { isStoreUnavailable } from "../storage/store-error.ts";

/** What datasets need. Sweeps what earlier processes left behind. */
export function composeDatasets(
  config: Config,
  log: Log,
  { database }: Pick<OpenedDatabase, "database">,
): DatasetServices & { dispose(): Promise<void> } {
  const sweeper = startSweeper(database, (error) => {
    if (isStoreUnavailable(error)) log.storeFailed(error);
    else log.logger.warn({ err: error }, "could not delete the rows of deleted datasets; will retry");
  });
  return {
    ...config.datasets,
    runUpload: (upload, body) => uploadRevision(database, upload, body),
    sweeper,
    dispose: sweeper.stop,
  };
}
