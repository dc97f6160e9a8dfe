import packageJson from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import { type ModelUse, useOfCompletion, useOfFailure } from "../evaluators/judge/judge-model.ts";
import { UpstreamError } from "../platform/errors.ts";
import { createRoomForBytes, quarterOfMemory } from "../platform/limits/memory.ts";
import { createBackgroundTurns, createFairSlots } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Tracing } from "../platform/observability/tracing.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { describeShortage, diskFloorOf } from "../platform/storage/sqlite.ts";
import type { OpenedDatabase } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import { readAnswer, refuseControlTokens, upstreamFields } from "../predictions/predict.ts";
import type { RunServices } from "../runs/run-services.ts";
import type { WriteWork } from "../runs/runner/evaluate-step.ts";
import type { PredictStep } from "../runs/runner/predict-step.ts";
import { type Runner, startRunner } from "../runs/runner/start-runner.ts";
import type { RunnerServices } from "../runs/runner/work-on-run.ts";
import { type Lease, storeWork } from "../runs/runner/work-store.ts";
import { traceCompletion } from "../upstream/completion.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { Writers } from "./writers.ts";

interface RunOptions {
  deployments: Deployments;
  /** Live predictions in progress. */
  liveInFlight(): number;
  /** Called after each call to a deployment, to count the account's usage. */
  recordCall?: (use: ModelUse) => void;
  /** Traces a process's work on a run. Absent: there are no traces. */
  startSpan?: Tracing["startRun"];
}

export interface ComposedRuns extends RunServices {
  /** Begins to work on runs, this process's and those that others left, or on one only. */
  start(services: RunnerServices, only?: Lease): void;
  dispose(): Promise<void>;
}

/** How long a run waits before it looks again whether live predictions leave it a place. */
const lookAgainMs = 50;

/** The texts of steps in progress may take an eighth of the memory budget. */
const partsForRuns = 8;

/** Runs leave the other connections to requests. */
const writingConnections = 2;

function writeInTurns(database: Database): WriteWork {
  const turns = createFairSlots({ slots: writingConnections });
  const never = new AbortController().signal;
  return async (work) => {
    const release = await turns.take(work.runId, never);
    return await storeWork(database, work).finally(release);
  };
}

/** What runs need. Work begins with `start`. */
export function composeRuns(
  config: Config,
  log: Log,
  { database, writers }: Pick<OpenedDatabase, "database"> & { writers: Writers | undefined },
  { deployments, liveInFlight, recordCall, startSpan }: RunOptions,
): ComposedRuns {
  const writeInThread: WriteWork | undefined =
    writers && ((work) => writers.live.send("work", JSON.stringify(work)));
  const slots = createFairSlots({ slots: config.runs.maxInFlight });
  const floor = diskFloorOf(config);
  let runner: Runner | undefined;

  const predict: PredictStep = async (request, signal) => {
    const { deployment: name, model, messages, params, session, accountId, keyId, span, mayRetry } = request;
    const release = await slots.take(accountId, signal);
    try {
      // Live predictions never wait for a run's: the run's wait for a place that they leave.
      while (liveInFlight() + slots.inUse() > config.prediction.maxInFlight) {
        await Bun.sleep(lookAgainMs);
        signal.throwIfAborted();
      }
      const deployment = deployments.find(name);
      if (deployment === undefined)
        throw new UpstreamError("unavailable", `There is no deployment named ${JSON.stringify(name)} now.`);
      const startedAtMs = performance.now();
      const caller = { accountId, keyId };
      const completion = await traceCompletion(
        deployment.upstream.complete,
        span,
        { ...(model === undefined ? {} : { model }), ...upstreamFields(params), messages },
        signal,
        // Without sharing: a repeat is a completion of its own.
        { session: { name: "x-session-id", value: session }, mayRetry },
      ).catch((error: unknown) => {
        recordCall?.(useOfFailure(caller, error, signal));
        throw error;
      });
      recordCall?.(useOfCompletion(caller, completion));
      const latencyMs = performance.now() - startedAtMs;
      const answer = readAnswer(completion);
      if (request.isFedBack) refuseControlTokens(answer, deployment);
      return { ...answer, latencyMs };
    } finally {
      release();
    }
  };

  return {
    predict,
    ...(startSpan && { startSpan }),
    turns: createBackgroundTurns(() => liveInFlight() > 0),
    room: createRoomForBytes((config.memoryBudgetBytes ?? quarterOfMemory()) / partsForRuns),
    writeWork: writeInThread ?? writeInTurns(database),
    findShortage: () => describeShortage(database, floor),
    hasDeployment: (name) => deployments.find(name) !== undefined,
    version: packageJson.version,
    wake: () => runner?.wake(),
    start(services, only) {
      const onError = (error: unknown) => {
        if (isStoreUnavailable(error)) log.storeFailed(error);
        else log.logger.error({ err: error }, "a run stopped; it will be continued");
      };
      runner = startRunner(services, onError, only);
    },
    async dispose() {
      await runner?.stop();
    },
  };
}
