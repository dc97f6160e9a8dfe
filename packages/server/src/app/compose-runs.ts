import type { Config } from "../config/config.ts";
import { selectEnvironmentsThrough } from "../environments/environments-store.ts";
import { createRoomForBytes, quarterOfMemory } from "../platform/limits/memory.ts";
import { createBackgroundTurns, createFairSlots } from "../platform/limits/turns.ts";
import { createLog, type Log } from "../platform/observability/logger.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { describeShortage, diskFloorOf } from "../platform/storage/sqlite/sqlite.ts";
import type { OpenedDatabase, OpenOptions } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { EvaluateServices } from "../results/evaluate.ts";
import type { Lease, RunQueue } from "../runs/run.ts";
import type { StepServices, WriteWork } from "../runs/runner/evaluate-step.ts";
import { type Runner, startRunner } from "../runs/runner/start-runner.ts";
import type { RunnerServices } from "../runs/runner/work-on-run.ts";
import { storeWork } from "../runs/runner/work-store.ts";
import { selectRunsThrough } from "../runs/runs-store.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { ExampleServices } from "../worlds/examples.ts";
import { createWorldParts, type WorldParts } from "../worlds/world-parts.ts";
import type { WorldUses } from "../worlds/worlds.ts";
import { composeDeployments } from "./compose-deployments.ts";
import { type ComposedEvaluation, composeEvaluation } from "./compose-evaluation.ts";
import { composeStore, type OpenedStore, type Writers } from "./storage.ts";

type RunOptions = Pick<
  RunnerServices,
  "deployments" | "liveInFlight" | "recordCall" | "startSpan" | "knownWorlds" | keyof ExampleServices
>;

export interface ComposedRuns extends RunQueue {
  /** Begins to work on runs, this process's and those that others left, or on one only. */
  start(services: StepServices, only?: Lease): void;
  dispose(): Promise<void>;
}

/** The texts of steps in progress may take an eighth of the memory budget. */
const partsForRuns = 8;

/** Runs leave the other connections to requests. */
const writingConnections = 2;

/** What works on runs. Work begins with `start`. */
export function composeRuns(
  config: Config,
  log: Log,
  { database, writers }: Pick<OpenedDatabase, "database"> & { writers: Writers | undefined },
  options: RunOptions,
): ComposedRuns {
  const writeInThread: WriteWork | undefined =
    writers && ((work) => writers.live.send("work", JSON.stringify(work)));
  const floor = diskFloorOf(config);
  const runners: Runner[] = [];

  return {
    wake() {
      for (const runner of runners) runner.wake();
    },
    start(services, only) {
      const runnerServices: RunnerServices = {
        ...services,
        ...options,
        slots: createFairSlots({ slots: config.runs.maxInFlight }),
        maxInFlight: config.prediction.maxInFlight,
        patience: config.patience,
        turns: createBackgroundTurns(() => options.liveInFlight() > 0),
        room: createRoomForBytes((config.memoryBudgetBytes ?? quarterOfMemory()) / partsForRuns),
        writeWork: writeInThread ?? writeInTurns(database),
        findShortage: () => describeShortage(database, floor),
      };
      const onError = (error: unknown) => {
        if (isStoreUnavailable(error)) log.storeFailed(error);
        else log.logger.error({ err: error }, "a run stopped; it will be continued");
      };
      // A command has one for each of its runs.
      runners.push(startRunner(runnerServices, onError, only));
    },
    async dispose() {
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
}

function writeInTurns(database: Database): WriteWork {
  const turns = createFairSlots({ slots: writingConnections });
  const never = new AbortController().signal;
  return async (work) => {
    const release = await turns.take(work.runId, never);
    return await storeWork(database, work).finally(release);
  };
}

export interface ComposedEvaluator {
  services: EvaluateServices;
  accountId: string;
  stop(): Promise<void>;
}

/** Evaluation without a server, for the command line. */
export async function composeEvaluator(
  config: Config,
  log: Log,
  options?: OpenOptions,
): Promise<ComposedEvaluator> {
  const { services, store, stop } = await composeWork(config, log, options);
  return { services, accountId: store.owner.account_id, stop };
}

/** What a world is not deleted from under. */
export const worldUses: WorldUses = async (transaction, accountId, name) => {
  const environments = await selectEnvironmentsThrough(transaction, accountId, name);
  const runs = await selectRunsThrough(transaction, accountId, name);
  return [
    ...environments.map((one) => `the environment ${one}`),
    ...runs.map((one) => `the run ${JSON.stringify(one)}`),
  ];
};

export interface ComposedRunner {
  store: OpenedStore;
  services: StepServices &
    Pick<ComposedEvaluation, "hasModel"> &
    WorldParts & { runs: RunQueue; deployments: Deployments; worldUses: WorldUses };
  defaultDeployment: string;
  /** Works on one run in this process. */
  start(run: Lease): void;
  stop(): Promise<void>;
}

/** Runs without a server, for the command line. Servers may work on the same database. */
export async function composeRunner(
  config: Config,
  log: Log,
  options?: OpenOptions,
): Promise<ComposedRunner> {
  const { services: evaluation, store, deployments, stop } = await composeWork(config, log, options);
  // No prediction here is live.
  const worlds = createWorldParts(store, config);
  const runs = composeRuns(config, log, store, { deployments, liveInFlight: () => 0, ...worlds });
  const services = { ...evaluation, ...worlds, runs, deployments, worldUses };
  return {
    store,
    services,
    defaultDeployment: deployments.getDefault().name,
    start: (run) => runs.start(services, run),
    async stop() {
      await runs.dispose();
      await worlds.indexes.stop();
      await stop();
    },
  };
}

async function composeWork(config: Config, log: Log, options: OpenOptions | undefined) {
  const store = await composeStore(config, log, options);
  // Without a configured model judges have none, so that nothing is said of the sandbox.
  const { deployments, stopSandbox } = await composeDeployments(config, createLog("silent").logger);
  const { dispose, ...evaluation } = composeEvaluation(config, log, store, { deployments });
  return {
    services: { store, ...evaluation },
    store,
    deployments,
    async stop() {
      await dispose();
      await stopSandbox();
      await store.destroy();
    },
  };
}
