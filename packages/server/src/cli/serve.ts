import packageJson from "../../package.json" with { type: "json" };
import { composeServer } from "../compose/compose-server.ts";
import type { Config } from "../config.ts";
import { listen } from "../http/listen.ts";
import { createLog } from "../observability/logger.ts";
import { startNotice } from "./start-notice.ts";

/** Runs the server until SIGTERM or SIGINT, which also end a start. Returns once everything is written and closed. */
export async function serve(config: Config, unknownVariables: string[]): Promise<void> {
  const stopped = nextSignal();
  const log = createLog(config.logLevel);
  const { logger } = log;
  for (const name of unknownVariables) logger.warn({ name }, "unknown PRESAGE_ variable; it has no effect");
  const server = listen(config.listen);
  const presage = await Promise.race([composeServer(config, log, server.address), stopped]);
  if (typeof presage === "string") {
    logger.info({ signal: presage }, "stopped before the start was complete");
    log.flush();
    return;
  }
  server.use(presage.app);
  presage.setPhase("ready");
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  // On a terminal the notice says so.
  if (!isTerminal) logger.info({ version: packageJson.version, address: server.address }, "ready");
  if (!server.isLoopback)
    logger.warn(
      { host: config.listen.host },
      "other machines can reach this server, and it serves plain HTTP",
    );
  const { publicUrl, signInAddress, firstKey } = presage;
  const isSecret = firstKey !== undefined || signInAddress !== undefined;
  // Printed, not logged: logs are stored and copied.
  if (isTerminal || isSecret)
    process.stderr.write(startNotice({ version: packageJson.version, publicUrl, signInAddress, firstKey }));

  // Without the file, SIGHUP ends the process, as when a terminal closes.
  if (config.deployments !== undefined) process.on("SIGHUP", () => void presage.rereadDeployments());

  const signal = await stopped;
  logger.info({ signal }, "stopping: no new connections; predictions in progress will finish");
  presage.setPhase("stopping");
  const cutOff = await server.drain();
  if (cutOff > 0) logger.warn({ cutOff }, "requests still running at the shutdown deadline were cut off");
  await presage.dispose();
  logger.info("stopped");
  log.flush();
}

/** Only the first signal counts: a terminal signals every process of `npm start`, which also forwards it. */
function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}
