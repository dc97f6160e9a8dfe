import type { Run, RunCreateRequest, RunUpload } from "@presage/contract";
import type { BunFile } from "bun";
import { needsSandbox } from "../app/compose-deployments.ts";
import { composeRunner } from "../app/compose-runs.ts";
import type { Config } from "../config/config.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { createLog } from "../platform/observability/logger.ts";
import { readDatabaseClock } from "../platform/storage/clock.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import { diskFloorOf } from "../platform/storage/sqlite/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { createRun, InvalidRunError } from "../runs/create-run.ts";
import { uploadPredictions } from "../runs/imported.ts";
import { hasEnded, newLeaseId, runLeaseMs, toRun } from "../runs/run.ts";
import { connectToStore, namingFile, requesterOf } from "./client-of-database.ts";
import { CommandError, printSandboxNotice } from "./command.ts";
import { configure } from "./config.ts";
import {
  type Client,
  type Connection,
  type ConnectionOptions,
  connectToRunningServer,
  connectToServer,
  databaseName,
  openOrCreate,
  type ServerConnection,
  withDatabase,
} from "./connect.ts";
import {
  checkEvaluatorsLocally,
  checkEvaluatorsRemotely,
  namingOptions,
  toReference,
} from "./evaluate/evaluators.ts";
import { type WorldCalls, worldsOfDatabase } from "./worlds/worlds-of-database.ts";

/** Connects a command to the server it names, or else to the configured database. */
export async function withConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: Connection) => Promise<void>,
  options?: OpenOptions,
): Promise<void> {
  if (server !== undefined) return await work(connectToServer(server, config.clientApiKey));
  await withDatabase(config, (store) => work(connectToStore(store, config)), options);
}

/** What Commander calls: it gives the arguments of a command, its options and the command. */
type Action = (...given: unknown[]) => Promise<void>;

const optionsOf = (given: readonly unknown[]) => given.at(-2) as ConnectionOptions;

/** The action of a command that works on the server it names, or else on the configured database. */
export function onConnection<Given extends unknown[]>(
  work: (connection: Connection, ...given: Given) => Promise<void>,
): Action {
  return (...given) =>
    withConnection(configure(), optionsOf(given), (connection) => work(connection, ...(given as Given)));
}

/** A connection through which runs are made, and worlds. */
export interface RunConnection extends Connection {
  call<Value>(work: (client: Client & WorldCalls) => Promise<Value>): Promise<Value>;
  /** Where runs are written, for people. */
  name: string;
  /** Refuses evaluators that cannot be used, before anything is stored. */
  checkEvaluators(evaluators: readonly WantedEvaluator[]): Promise<void>;
  findDefaultDeployment(): Promise<string>;
  createRun(
    wanted: Omit<RunCreateRequest, "evaluators">,
    evaluators: readonly WantedEvaluator[],
  ): Promise<Run>;
  uploadPredictions(
    id: string,
    file: BunFile,
    options: { isGzip: boolean },
  ): Promise<Pick<RunUpload, "warnings">>;
  /** Makes sure that a process works on a run. */
  start(id: string): void;
  /** Resolves once a run has ended. What `onProgress` throws ends the waiting. */
  waitUntilEnded(id: string, onProgress: (run: Run) => void, signal: AbortSignal): Promise<Run>;
  /** Stops the work of this process. */
  close(): Promise<void>;
}

interface OpenRunsOptions extends ConnectionOptions {
  evaluators: readonly WantedEvaluator[];
  /** Whether a database may be created: the command needs nothing of it. */
  mayCreate: boolean;
}

/** Connects to another server, to the one that runs on the configured database, or to that database. */
export async function openRunConnection(
  config: Config,
  { server, evaluators, mayCreate }: OpenRunsOptions,
): Promise<RunConnection> {
  if (server !== undefined) return runsOfServer(connectToServer(server, config.clientApiKey));
  const running = await connectToRunningServer(config);
  if (running !== undefined) return runsOfServer(running);
  if (!mayCreate) return await runsOfDatabase(config, { mustExist: true });
  return await openOrCreate(config, runsOfDatabase, async (empty) => {
    await empty.checkEvaluators(evaluators).finally(() => empty.close());
  });
}

/** On the server that is named, on the one that runs on the configured database, or on that database. */
export async function withRunConnection(
  config: Config,
  { server }: ConnectionOptions,
  work: (connection: RunConnection) => Promise<void>,
): Promise<void> {
  const connection = await openRunConnection(config, { server, evaluators: [], mayCreate: false });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

/** The action of a command that needs whoever makes runs, or worlds. */
export function onRunConnection<Given extends unknown[]>(
  work: (connection: RunConnection, ...given: Given) => Promise<void>,
): Action {
  return (...given) =>
    withRunConnection(configure(), optionsOf(given), (connection) => work(connection, ...(given as Given)));
}

/** The runs of a server, which works on them. */
function runsOfServer(connection: ServerConnection): RunConnection {
  const { call, origin } = connection;
  return {
    ...connection,
    name: `the server at ${origin}`,
    checkEvaluators: (evaluators) => checkEvaluatorsRemotely(call, evaluators),
    async findDefaultDeployment() {
      const found = (await call(({ deployments }) => deployments.list())).find((one) => one.is_default);
      if (found === undefined) throw new CommandError("The server has no deployment; name a target");
      return found.name;
    },
    createRun: (wanted, evaluators) =>
      call(({ runs }) => runs.create({ ...wanted, evaluators: evaluators.map(toReference) })),
    uploadPredictions: (id, file, options) => call(({ runs }) => runs.uploadPredictions(id, file, options)),
    start() {},
    waitUntilEnded: (id, onProgress, signal) =>
      call(({ runs }) => runs.waitUntilEnded(id, { onProgress, signal })),
    async close() {},
  };
}

const pollEveryMs = 300;

/** Runs in the configured database, on which this process works. */
async function runsOfDatabase(config: Config, options?: OpenOptions): Promise<RunConnection> {
  const runner = await composeRunner(config, createLog("warn"), options);
  const { store, services } = runner;
  const { owner, database } = store;
  const requester = requesterOf(store);
  const { accountId, actor } = requester;
  const leaseId = newLeaseId();
  const connection = connectToStore(store, config, services.runs);
  const worlds = worldsOfDatabase(services, requester, owner.id);

  return {
    ...connection,
    call: (work) => connection.call((client) => work({ ...client, ...worlds })),
    name: `the database ${databaseName(config.databaseUrl)}`,
    checkEvaluators: (evaluators) =>
      checkEvaluatorsLocally(services, accountId, evaluators, services.hasModel),
    findDefaultDeployment: async () => runner.defaultDeployment,
    async createRun(wanted, evaluators) {
      // A server on this database may have other deployments of the same names.
      const until = (await readDatabaseClock(database)) + runLeaseMs * microsPerMs;
      if ("deployment" in wanted.target && needsSandbox(config)) printSandboxNotice();
      const heldBy = "predictions" in wanted.target ? undefined : { leaseId, until };
      const newRun = { ...wanted, evaluators, userId: owner.id, heldBy };
      const created = createRun(services, requester, newRun, undefined);
      return toRun(
        await created.catch((error: unknown) => {
          throw error instanceof InvalidRunError
            ? new CommandError(`${error.path.join(".")}: ${error.message}`)
            : namingOptions(error, evaluators);
        }),
      );
    },
    async uploadPredictions(runId, file, { isGzip }) {
      const limits = { maxBytes: config.datasets.maxBytes, floor: diskFloorOf(config) };
      const upload = { accountId, actor, runId, isGzip, ...limits };
      return await uploadPredictions(database, upload, file.stream()).catch(namingFile(file));
    },
    start: (id) => runner.start({ id, leaseId }),
    async waitUntilEnded(id, onProgress, signal) {
      for (;;) {
        const run = await connection.call(({ runs }) => runs.get(id));
        onProgress(run);
        if (hasEnded(run)) return run;
        await Bun.sleep(pollEveryMs);
        signal.throwIfAborted();
      }
    },
    close: runner.stop,
  };
}
