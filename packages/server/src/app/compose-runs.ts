import type { Config } from "../config/config.ts";
import { selectEnvironmentsThrough } from "../environments/environments-store.ts";
import { expiredBefore } from "../environments/episodes/episode.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { createRoomForBytes, quarterOfMemory } from "../platform/limits/memory.ts";
import { createBackgroundTurns, createFairSlots, type PlacesBehindLive } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { describeShortage, diskFloorOf } from "../platform/storage/sqlite/sqlite.ts";
import type { Store } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { Lease } from "../runs/run.ts";
import type { StepServices } from "../runs/runner/evaluate-step.ts";
import { type Runner, startRunner } from "../runs/runner/start-runner.ts";
import type { RunnerServices, WriteWork } from "../runs/runner/work-on-run.ts";
import { storeWork } from "../runs/runner/work-store.ts";
import { selectRunsThrough } from "../runs/runs-store.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { ExampleServices } from "../worlds/choose-examples.ts";
import type { WorldUses } from "../worlds/worlds.ts";
import { selectWorldNames } from "../worlds/worlds-store.ts";
import type { OpenedStore } from "./storage.ts";

type RunOptions = Pick<
  RunnerServices,
  "deployments" | "recordCall" | "startSpan" | "knownWorlds" | keyof PlacesBehindLive | keyof ExampleServices
>;

/** The texts of steps in progress may take an eighth of the memory budget. */
const partsForRuns = 8;

/** Runs leave the other connections to requests. */
const writingConnections = 2;

/** The services that work on runs. Work begins with `start`. */
export function composeRuns(
  config: Config,
  log: Log,
  { database, writers }: Pick<OpenedStore, "database" | "writers">,
  options: RunOptions,
) {
  const writeInThread: WriteWork | undefined =
    writers && ((work) => writers.live.send("work", JSON.stringify(work)));
  const floor = diskFloorOf(config);
  const runners: Runner[] = [];

  return {
    wake() {
      for (const runner of runners) runner.wake();
    },
    /** Begins to work on runs, both new ones and those left by other processes, or on one run only. */
    start(services: StepServices, only?: Lease) {
      const runnerServices: RunnerServices = {
        ...services,
        ...options,
        slots: createFairSlots({ slots: config.runs.maxInFlight }),
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
      // A command has a runner for each of its runs.
      runners.push(startRunner(runnerServices, onError, only));
    },
    async dispose() {
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
}

function writeInTurns(database: Database): WriteWork {
  const turns = createFairSlots({ slots: writingConnections });
  return async (work) => {
    const release = await turns.take(work.runId, neverAborted);
    return await storeWork(database, work).finally(release);
  };
}

/** The environments and runs that prevent the deletion of a world. */
export const worldUses: WorldUses = async (transaction, accountId, name) => {
  const environments = await selectEnvironmentsThrough(transaction, accountId, {
    world: name,
    expiredBefore: expiredBefore(),
  });
  const runs = await selectRunsThrough(transaction, accountId, name);
  return [
    ...environments.map((one) => `the environment ${one}`),
    ...runs.map((one) => `the run ${JSON.stringify(one)}`),
  ];
};

/** Warns of worlds that can no longer be reached by a request's `model`. */
export async function warnOfHiddenWorlds(
  { database }: Pick<Store, "database">,
  deployments: Pick<Deployments, "all">,
  { logger }: Pick<Log, "logger">,
): Promise<void> {
  const names = deployments.all().map(({ name }) => name);
  const worlds = await selectWorldNames(database, names);
  if (worlds.length > 0)
    logger.warn(
      { worlds },
      "`model` means the deployments of these names: ask the worlds with x-presage-world",
    );
}
