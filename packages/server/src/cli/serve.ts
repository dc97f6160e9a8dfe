import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { isLoopback, listen, listenAddress } from "../app/listen.ts";
import type { SupervisorLink } from "../app/supervise.ts";
import type { Started, WorkerStart } from "../app/workers.ts";
import { type Config, hasFilesToReread, readConfig, unknownVariables } from "../config/config.ts";
import { browserAddress } from "../http/pages.ts";
import type { Log, Logger } from "../platform/observability/logger.ts";
import { commandName } from "../platform/words.ts";
import { CommandError, examples, nextSignal, settleRuntime } from "./command.ts";

/** `presage serve`, `worker` and `health`. What a supervisor or `health` does not need is loaded only where it is used. */
export function addServerCommands(program: Command): void {
  program
    .command("serve", { isDefault: true })
    .summary("run the server on http://127.0.0.1:8080 (default)")
    .description("run the server (the default command)")
    .allowExcessArguments(false)
    .addHelpText(
      ...examples(
        "presage serve",
        "PRESAGE_UPSTREAM_URL=http://127.0.0.1:30000/v1 PRESAGE_PORT=8081 presage serve",
      ),
    )
    .action(async () => {
      settleRuntime();
      process.exit(await serve(readConfig(process.env)));
    });

  program
    .command("worker <start>", { hidden: true })
    .description("run one of the processes of a server; started by serve")
    .action(async (start: string) => {
      await work(readConfig(process.env), JSON.parse(start));
      process.exit();
    });

  program
    .command("health", { hidden: true })
    .description("succeed if the server on this machine is ready")
    .action(async () => checkHealth(readConfig(process.env)));
}

/** Runs the server until SIGTERM or SIGINT, even while it starts. Returns its exit code once everything is written and closed. */
async function serve(config: Config): Promise<number> {
  const stopped = nextSignal();
  const { createLog } = await import("../platform/observability/logger.ts");
  const log = createLog(config.logLevel);
  const { logger } = log;
  for (const name of unknownVariables(process.env))
    logger.warn({ name }, "unknown PRESAGE_ variable; it has no effect");
  const onReady = (started: Started) => announce(config, logger, started);
  try {
    if (config.workers.count > 1) {
      const { supervise } = await import("../app/supervise.ts");
      return await supervise(config, { logger, stopped, onReady });
    }
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
  // On a terminal the notice says the same.
  if (!isTerminal) logger.info({ version, address, ...several }, "ready");
  if (!isLoopback(listen.host))
    logger.warn({ host: listen.host }, "other machines can reach this server, and it serves plain HTTP");
  const isSecret = firstKey !== undefined || signInAddress !== undefined;
  // Printed, not logged: logs are stored and copied.
  if (isTerminal || isSecret)
    process.stderr.write(startNotice({ version, publicUrl, signInAddress, firstKey }));
}

/** Runs one worker of a server until a signal stops it or its supervisor ends. */
async function work(config: Config, start: WorkerStart): Promise<void> {
  const [{ connectToSupervisor }, { configOfWorker }, { createLog }] = await Promise.all([
    import("../app/supervise.ts"),
    import("../app/workers.ts"),
    import("../platform/observability/logger.ts"),
  ]);
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

interface RunOptions {
  /** Resolves with the reason to stop, even while the server starts. */
  stopped: Promise<string>;
  onReady(started: Started): void;
  /** Absent: the server is a single process. */
  worker?: WorkerStart & { link: SupervisorLink };
}

/** Runs the server, or one worker of it, until it is stopped. Returns once everything is written and closed. */
async function runServer(config: Config, log: Log, { stopped, onReady, worker }: RunOptions): Promise<void> {
  const { logger } = log;
  const { host } = config.listen;
  const [{ composeServer }, { createServerFile }] = await Promise.all([
    import("../app/compose-server.ts"),
    import("./connect.ts"),
  ]);
  let reread = () => {
    isRereadWanted = true;
  };
  let isRereadWanted = false;
  // Handled from the beginning: without a handler, the signal would end a process that is still starting.
  if (hasFilesToReread(config)) process.on("SIGHUP", () => reread());
  const file = createServerFile(config.databaseUrl);
  const reusePort = worker !== undefined;
  // Next to other workers, a process listens only once it can answer: until then its share of the requests would be refused.
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
  // What was compiled for the start is not needed again.
  Bun.shrink();

  reread = () => void presage.rereadFiles();
  if (isRereadWanted) reread();

  const signal = await stopped;
  logger.info({ signal }, "stopping: no new connections; predictions in progress will finish");
  presage.setPhase("stopping");
  await file?.remove();
  const cutOff = await server.drain();
  if (cutOff > 0) logger.warn({ cutOff }, "requests still running at the shutdown deadline were cut off");
  await worker?.link.sendLastFigures();
  await presage.dispose();
  logger.info("stopped");
}

const everyAddress = new Set(["0.0.0.0", "::"]);

/** Succeeds if the server on this machine is ready: for container images, which have no other program to ask with. */
async function checkHealth({ listen: { host, port } }: Config): Promise<void> {
  const url = `${listenAddress(everyAddress.has(host) ? "127.0.0.1" : host, port)}/ready`;
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
  if (response?.ok === true) return;
  throw new CommandError(
    response === undefined ? `Nothing answers at ${url}.` : `${url} has status ${response.status}.`,
  );
}

interface StartNotice {
  version: string;
  /** Where browsers reach the server. */
  publicUrl: string;
  /** The one-time sign-in link of local mode. */
  signInAddress: string | undefined;
  /** The owner's first key, if this start created it. */
  firstKey: string | undefined;
}

/** What a person needs in order to begin, as one block that stands out from the log. */
function startNotice({ version, publicUrl, signInAddress, firstKey }: StartNotice): string {
  const rows = [
    ...(signInAddress === undefined
      ? [["Dashboard", `${publicUrl}/`]]
      : [
          ["Dashboard", "This link signs in one browser, once, within 12 hours:"],
          // Without indentation it fits 80 columns, so that it can be copied.
          [signInAddress, ""],
          ["", `${commandName} sign-in prints another.`],
        ]),
    ["API", `${publicUrl}/v1`],
    ...(firstKey === undefined
      ? []
      : [
          ["API key", firstKey],
          ["", `It is shown only once. ${commandName} keys create makes another.`],
        ]),
  ];
  const lines = [
    `Presage ${version} is ready`,
    "",
    ...rows.map(([name = "", value]) => `${name.padEnd(11)}${value}`.trimEnd()),
    ...(firstKey === undefined
      ? []
      : ["", "A first prediction:", "", ...firstPrediction(publicUrl, firstKey)]),
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
}

/** Lines of at most 80 columns that a shell reads as one command. */
function firstPrediction(publicUrl: string, key: string): string[] {
  return [
    `curl ${publicUrl}/v1/predict \\`,
    `  -H 'X-API-KEY: ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"interaction": {`,
    `        "state": "You are in the kitchen. The fridge is closed.",`,
    `        "action": "open fridge"}}'`,
  ];
}
