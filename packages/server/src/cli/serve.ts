import packageJson from "../../package.json" with { type: "json" };
import { isLoopback } from "../app/listen.ts";
import type { Started } from "../app/workers.ts";
import type { Config } from "../config/config.ts";
import { createLog, type Logger } from "../platform/observability/logger.ts";
import { nextSignal } from "./next-signal.ts";
import { startNotice } from "./start-notice.ts";

/** Runs the server until SIGTERM or SIGINT, which also end a start. Returns its exit code once everything is written and closed. */
export async function serve(config: Config, unknownVariables: string[]): Promise<number> {
  const stopped = nextSignal();
  const log = createLog(config.logLevel);
  const { logger } = log;
  for (const name of unknownVariables) logger.warn({ name }, "unknown PRESAGE_ variable; it has no effect");
  const onReady = (started: Started) => announce(config, logger, started);
  try {
    if (config.workers.count > 1) {
      const { supervise } = await import("../app/supervise.ts");
      return await supervise(config, { logger, stopped, onReady });
    }
    const { runServer } = await import("./run-server.ts");
    await runServer(config, log, { stopped, onReady });
    return 0;
  } finally {
    await log.close();
  }
}

function announce({ listen, workers }: Config, logger: Logger, started: Started): void {
  const { address, publicUrl, signInAddress, firstKey } = started;
  const { version } = packageJson;
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  const several = workers.count > 1 ? { workers: workers.count } : {};
  // On a terminal the notice says so.
  if (!isTerminal) logger.info({ version, address, ...several }, "ready");
  if (!isLoopback(listen.host))
    logger.warn({ host: listen.host }, "other machines can reach this server, and it serves plain HTTP");
  const isSecret = firstKey !== undefined || signInAddress !== undefined;
  // Printed, not logged: logs are stored and copied.
  if (isTerminal || isSecret)
    process.stderr.write(startNotice({ version, publicUrl, signInAddress, firstKey }));
}
