import type { Config } from "../config/config.ts";
import { createLog, type Log } from "../platform/observability/logger.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import type { EvaluateServices } from "../results/evaluate.ts";
import type { Lease } from "../runs/lease.ts";
import type { RunQueue } from "../runs/run.ts";
import type { StepServices } from "../runs/runner/evaluate-step.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { composeDeployments } from "./compose-deployments.ts";
import { type ComposedEvaluation, composeEvaluation } from "./compose-evaluation.ts";
import { composeRuns } from "./compose-runs.ts";
import { composeStore, type OpenedStore } from "./storage.ts";

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

export interface ComposedRunner {
  store: OpenedStore;
  services: StepServices &
    Pick<ComposedEvaluation, "hasModel"> & { runs: RunQueue; deployments: Deployments };
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
  const runs = composeRuns(config, log, store, { deployments, liveInFlight: () => 0 });
  const services = { ...evaluation, runs, deployments };
  return {
    store,
    services,
    defaultDeployment: deployments.getDefault().name,
    start: (run) => runs.start(services, run),
    async stop() {
      await runs.dispose();
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
