import { connectToSupervisor } from "../app/supervisor-link.ts";
import { configOfWorker, type WorkerStart } from "../app/workers.ts";
import type { Config } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import { CommandError } from "./command-error.ts";
import { nextSignal } from "./next-signal.ts";
import { runServer } from "./run-server.ts";

/** Runs one worker of a server until a signal stops it or its supervisor ends. */
export async function work(config: Config, start: WorkerStart): Promise<void> {
  const link = connectToSupervisor();
  if (link === undefined) throw new CommandError("Workers are started by presage serve (PRESAGE_WORKERS).");
  const stopped = Promise.race([nextSignal(), link.closed]);
  const log = createLog(config.logLevel, start.index + 1);
  try {
    await runServer(configOfWorker(config, start.index), log, {
      stopped,
      worker: { ...start, link },
      onReady(started) {
        log.logger.info({ processId: process.pid }, "the worker is ready");
        link.ready(started);
      },
    });
  } finally {
    await log.close();
  }
}
