import type { Run, RunCreateRequest } from "@presage/contract";
import { createPresage, PresageError, type WaitOptions } from "@presage/sdk";
import {
  type CommandOptions,
  type CommandServer,
  composeCommand,
  composePreviews,
} from "../app/compose-command.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { inMemoryUrl, isInMemory } from "../platform/storage/sqlite/sqlite.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { isNotReady } from "../worlds/indexes.ts";
import { commandLineActor, printSandboxNotice } from "./command.ts";
import { configure } from "./config.ts";
import {
  type CallServer,
  type Connection,
  type ConnectionOptions,
  connectToRunningServer,
  connectToServer,
  databaseName,
  findServer,
  refuseInMemory,
  type ServerConnection,
  timeoutMs,
} from "./connect.ts";
import {
  checkEvaluatorsLocally,
  checkEvaluatorsRemotely,
  namingOptions,
  toReference,
} from "./evaluate/evaluators.ts";

type OwnOptions = Omit<CommandOptions, "actor">;

/** A connection that this process answers itself, from the configured database. */
interface OwnConnection extends Connection {
  server: CommandServer;
}

/** Composes, in this process, a server's services on the configured database. Servers may run on it at the same time. */
async function connectHere(config: Config, options: OwnOptions): Promise<OwnConnection> {
  const server = await composeCommand(config, { ...options, actor: commandLineActor() });
  const { database } = server.store;
  return {
    server,
    replays: false,
    call: callHere(server),
    async findOrigin() {
      return isInMemory(config.databaseUrl) ? undefined : (await findServer(database, config)).running;
    },
  };
}

/** Previews imports without a database. */
export function previewsHere(config: Config): { call: CallServer } {
  return { call: callHere(composePreviews(config, commandLineActor())) };
}

function callHere({ fetch, broken }: Pick<CommandServer, "fetch"> & Partial<CommandServer>): CallServer {
  const presage = createPresage({ baseUrl: "http://presage", fetch, retries: 0, timeoutMs });
  return (work) =>
    onceSearchable(() =>
      work(presage).catch((error: unknown) => {
        throw causeOf(error, broken?.());
      }),
    );
}

/** The error that an operation failed with, rather than the client's words for it. */
function causeOf(error: unknown, broken: unknown): unknown {
  if (!(error instanceof PresageError)) return error;
  const cause = error.cause ?? broken ?? error;
  return cause instanceof InvalidRequestError ? (cause.cause ?? cause) : cause;
}

const pauseMs = 1_000;

/** Each command makes examples searchable from scratch. It waits for that however many there are, and for nothing else. */
export async function onceSearchable<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isNotReady(error)) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

/** Connects a command to the server that it names, otherwise to the configured database. */
export async function withConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: Connection) => Promise<void>,
  options: Partial<OwnOptions> = {},
): Promise<void> {
  if (server !== undefined) return await work(connectToServer(server, config.clientApiKey));
  refuseInMemory(config);
  const own = await connectHere(config, { purpose: "data", mustExist: true, ...options });
  await work(own).finally(own.server.stop);
}

/** What Commander calls with a command's arguments, its options and the command. */
type Action = (...given: unknown[]) => Promise<void>;

const optionsOf = (given: readonly unknown[]) => given.at(-2) as ConnectionOptions;

/** The action of a command that works on the server that it names, otherwise on the configured database. */
export function onConnection<Given extends unknown[]>(
  work: (connection: Connection, ...given: Given) => Promise<void>,
  options?: Partial<OwnOptions>,
): Action {
  return (...given) =>
    withConnection(
      configure(),
      optionsOf(given),
      (connection) => work(connection, ...(given as Given)),
      options,
    );
}

/** A connection that can create runs and worlds. */
export interface RunConnection extends Connection {
  /** What the messages call the place where runs are stored. */
  name: string;
  /** How to wait for its runs. */
  waiting: Pick<WaitOptions<Run>, "pollEveryMs" | "patienceMs">;
  /** Refuses evaluators that cannot be used, before anything is stored. */
  checkEvaluators(evaluators: readonly WantedEvaluator[]): Promise<void>;
  createRun(wanted: WantedRun, evaluators: readonly WantedEvaluator[]): Promise<Run>;
  /** Makes sure that some process works on a run. */
  start(id: string): void;
  /** Stops this process's work. */
  close(): Promise<void>;
}

type WantedRun = Omit<RunCreateRequest, "evaluators">;

interface OpenRunsOptions extends ConnectionOptions {
  evaluators: readonly WantedEvaluator[];
  /** Whether a database may be created, since the command needs no existing data. */
  mayCreate: boolean;
}

/** Connects to the named server, otherwise to the one that runs on the configured database, otherwise to that database. */
export async function openRunConnection(
  config: Config,
  { server, evaluators, mayCreate }: OpenRunsOptions,
): Promise<RunConnection> {
  if (server !== undefined) return runsOfServer(connectToServer(server, config.clientApiKey));
  const running = await connectToRunningServer(config);
  if (running !== undefined) return runsOfServer(running);
  if (!mayCreate) return runsHere(config, await connectHere(config, { purpose: "work", mustExist: true }));
  return runsHere(
    config,
    await openOrCreate(config, (own) => runsHere(config, own).checkEvaluators(evaluators)),
  );
}

/**
 * Opens the configured database, or creates it. None is created for a command that is refused: `refuse` first gets an in-memory
 * database, which is just as empty and leads to the same refusals.
 */
export async function openOrCreate(
  config: Config,
  refuse: (empty: OwnConnection) => Promise<void>,
): Promise<OwnConnection> {
  try {
    return await connectHere(config, { purpose: "work", mustExist: true });
  } catch (error) {
    if (!(error instanceof NoDatabaseError)) throw error;
    const empty = await connectHere({ ...config, databaseUrl: inMemoryUrl }, { purpose: "work" });
    await refuse(empty).finally(empty.server.stop);
    return await connectHere(config, { purpose: "work" });
  }
}

/** Works on the named server, otherwise on the one that runs on the configured database, otherwise on that database. */
export async function withRunConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: RunConnection) => Promise<void>,
): Promise<void> {
  const connection = await openRunConnection(config, { server, evaluators: [], mayCreate: false });
  await work(connection).finally(connection.close);
}

/** The action of a command that needs a connection that can create runs and worlds. */
export function onRunConnection<Given extends unknown[]>(
  work: (connection: RunConnection, ...given: Given) => Promise<void>,
): Action {
  return (...given) =>
    withRunConnection(configure(), optionsOf(given), (connection) => work(connection, ...(given as Given)));
}

async function createRun(call: CallServer, wanted: WantedRun, evaluators: readonly WantedEvaluator[]) {
  return await call(({ runs }) => runs.create({ ...wanted, evaluators: evaluators.map(toReference) }));
}

/** Runs on a server, which does the work. */
function runsOfServer(connection: ServerConnection): RunConnection {
  const { call, origin } = connection;
  return {
    ...connection,
    name: `the server at ${origin}`,
    waiting: {},
    checkEvaluators: (evaluators) => checkEvaluatorsRemotely(call, evaluators),
    createRun: (wanted, evaluators) => createRun(call, wanted, evaluators),
    start() {},
    async close() {},
  };
}

/** Runs in the configured database, worked on by this process. */
function runsHere(config: Config, own: OwnConnection): RunConnection {
  const { call, server } = own;
  return {
    ...own,
    name: `the database ${databaseName(config.databaseUrl)}`,
    waiting: { pollEveryMs: 300, patienceMs: 0 },
    checkEvaluators: (evaluators) => checkEvaluatorsLocally(server, evaluators),
    async createRun(wanted, evaluators) {
      if ("deployment" in wanted.target && needsSandbox(config)) printSandboxNotice();
      return await createRun(call, wanted, evaluators).catch((error: unknown) => {
        throw namingOptions(error, evaluators);
      });
    },
    start: server.start,
    close: server.stop,
  };
}
