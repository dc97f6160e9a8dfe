import { composeServer } from "../compose/compose-server.ts";
import type { Config } from "../config.ts";
import { listen } from "../http/listen.ts";
import { createLog } from "../observability/logger.ts";

/** Runs the server until SIGTERM or SIGINT. Returns once everything is written and closed. */
export async function serve(config: Config, unknownVariables: string[]): Promise<void> {
  const log = createLog(config.logLevel);
  const { logger } = log;
  for (const name of unknownVariables) logger.warn({ name }, "unknown PRESAGE_ variable; it has no effect");
  const server = listen(config.listen);
  const presage = await composeServer(config, log, server.address);
  server.use(presage.app);
  presage.setPhase("ready");
  logger.info({ address: server.address }, "ready");
  if (!server.isLoopback)
    logger.warn(
      { host: config.listen.host },
      "other machines can reach this server, and it serves plain HTTP",
    );
  if (presage.firstKey !== undefined) showFirstKey(presage.firstKey, server.address);
  if (presage.signInAddress !== undefined) showSignInAddress(presage.signInAddress);

  const signal = await nextSignal();
  logger.info({ signal }, "stopping: no new connections; predictions in progress will finish");
  presage.setPhase("stopping");
  const cutOff = await server.drain();
  if (cutOff > 0) logger.warn({ cutOff }, "requests still running at the shutdown deadline were cut off");
  await presage.dispose();
  logger.info("stopped");
  log.flush();
}

/** Printed, not logged: logs are stored and copied. */
function showFirstKey(key: string, address: string): void {
  process.stderr.write(
    [
      "",
      "  Your first API key. It is shown only once:",
      "",
      `    ${key}`,
      "",
      "  A first prediction:",
      "",
      `    curl ${address}/v1/predict -H 'X-API-KEY: ${key}' -H 'Content-Type: application/json' \\`,
      `      -d '{"interaction": {"state": "You are in the kitchen. The fridge is closed.", "action": "open fridge"}}'`,
      "",
      "",
    ].join("\n"),
  );
}

function showSignInAddress(address: string): void {
  process.stderr.write(
    [
      "",
      "  Sign in with a browser. This URL works once, within 12 hours:",
      "",
      `    ${address}`,
      "",
      "",
    ].join("\n"),
  );
}

/** Only the first signal counts: a terminal signals every process of `npm start`, which also forwards it. */
function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}
