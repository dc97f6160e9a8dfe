import type { Config } from "../config/config.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { OpenedDatabase } from "../platform/storage/open.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type Capture, createCapture } from "../predictions/capture.ts";
import { toCapturedRows } from "../predictions/captured-rows.ts";
import { insertCaptured } from "../predictions/stored-predictions-store.ts";
import { logFailure } from "./log-failure.ts";
import { writeCapturedInThread } from "./write-captured-in-thread.ts";

/** Keeps predictions of clients. */
export function composeCapture(
  { capture: { setting }, retention }: Config,
  log: Log,
  { database, sqlitePath }: Pick<OpenedDatabase, "database" | "sqlitePath">,
  { memory, metrics }: { memory: ByteBudget; metrics: Metrics },
): Omit<Capture, "stop"> & { dispose(): Promise<void> } {
  const { logger } = log;
  // In a terminal, a line has 80 columns.
  if (setting === "off") logger.info("predictions are stored only for keys set to capture");
  else logger.info({ setting, maxAgeDays: retention.predictions }, "predictions are stored");
  const writer = sqlitePath === undefined ? writeInPlace(database) : writeCapturedInThread(sqlitePath);
  const { stop, ...capture } = createCapture({
    setting,
    memory,
    write: (predictions) => writer.write(toCapturedRows(predictions)),
    onFailure: (error, isFirst) =>
      logFailure(log, error, "could not store captured predictions; will retry", isFirst),
    onDropped(error, isFirst) {
      if (!isFirst) return;
      const why = error === undefined ? {} : { err: error };
      logger.warn(why, "captured predictions are dropped until they can be stored again");
    },
    count: (outcome, predictions) => metrics.captured([outcome], predictions),
  });
  return {
    ...capture,
    async dispose() {
      await stop();
      await writer.end();
    },
  };
}

function writeInPlace(database: Database): ReturnType<typeof writeCapturedInThread> {
  return { write: (rows) => insertCaptured(database, rows), end: async () => {} };
}
