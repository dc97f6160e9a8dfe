import { composeServer } from "../app/compose-server.ts";
import { listen, listenAddress } from "../app/listen.ts";
import type { SupervisorLink } from "../app/supervisor-link.ts";
import type { Started, WorkerStart } from "../app/workers.ts";
import { type Config, hasFilesToReread } from "../config/config.ts";
import { browserAddress } from "../http/pages.ts";
import type { Log } from "../platform/observability/logger.ts";
import { createServerFile } from "./server-file.ts";

export interface RunOptions {
  /** Resolves with the reason to stop, which also ends a start. */
  stopped: Promise<string>;
  onReady(started: Started): void;
  /** Absent: the server is this process alone. */
  worker?: WorkerStart & { link: SupervisorLink };
}

/** Runs the server, or one worker of it, until it is stopped. Returns once everything is written and closed. */
export async function runServer(
  config: Config,
  log: Log,
  { stopped, onReady, worker }: RunOptions,
): Promise<void> {
  const { logger } = log;
  const { host } = config.listen;
  const file = createServerFile(config.databaseUrl);
  const reusePort = worker !== undefined;
  // Beside other workers a process listens only once it can answer: its part of the requests would be refused.
  const early = worker?.port === undefined ? listen({ ...config.listen, reusePort }) : undefined;
  const port = early?.port ?? worker?.port ?? config.listen.port;
  if (early !== undefined) worker?.link.listening(port);
  const composed = composeServer(
    config,
    log,
    listenAddress(host, port),
    worker && { ...worker, isReplacement: early === undefined },
    file?.key,
  );
  const presage = await Promise.race([composed, stopped]);
  if (typeof presage === "string") {
    logger.info({ signal: presage }, "stopped before the start was complete");
    return;
  }
  const server = early ?? listen({ host, port, reusePort });
  server.use(presage.app);
  const { publicUrl, signInAddress, firstKey } = presage;
  await file
    ?.write(browserAddress(server.address), publicUrl)
    .catch((error: unknown) => logger.warn({ err: error }, "commands of this folder cannot find the server"));
  presage.setPhase("ready");
  onReady({ address: server.address, publicUrl, signInAddress, firstKey });

  if (hasFilesToReread(config)) process.on("SIGHUP", () => void presage.rereadFiles());

  const signal = await stopped;
  logger.info({ signal }, "stopping: no new connections; predictions in progress will finish");
  presage.setPhase("stopping");
  await file?.remove();
  const cutOff = await server.drain();
  if (cutOff > 0) logger.warn({ cutOff }, "requests still running at the shutdown deadline were cut off");
  await presage.dispose();
  logger.info("stopped");
}
