import { ensureOwner } from "../accounts/users.ts";
import type { User } from "../accounts/users-store.ts";
import { createKeyDigest, type KeyDigest } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import { createLog, type Log } from "../platform/observability/logger.ts";
import { migrations } from "../platform/storage/migrations/index.ts";
import { openDatabase } from "../platform/storage/open.ts";
import { sharedSecret } from "../platform/storage/settings-store.ts";
import type { OpenedDatabase, OpenOptions } from "../platform/storage/store.ts";
import type { EvaluateServices } from "../results/evaluate.ts";
import type { Lease } from "../runs/lease.ts";
import type { RunQueue } from "../runs/run.ts";
import type { StepServices } from "../runs/runner/evaluate-step.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { composeDeployments } from "./compose-deployments.ts";
import { type ComposedEvaluation, composeEvaluation } from "./compose-evaluation.ts";
import { composeRuns } from "./compose-runs.ts";
import { startWriters, type Writers } from "./writers.ts";

export interface OpenedStore extends Omit<OpenedDatabase, "migrated"> {
  owner: User;
  keyDigest: KeyDigest;
  /** Absent: the database is not an SQLite file, and is written on this thread. */
  writers: Writers | undefined;
}

/** Opens and migrates the database, and ensures its owner. */
export async function composeStore(config: Config, log: Log, options?: OpenOptions): Promise<OpenedStore> {
  const { migrated, ...opened } = await openDatabase(
    config.databaseUrl,
    log.storeFailed,
    log.storeResponded,
    options,
  );
  const { applied, newer } = migrated;
  if (applied.length === Object.keys(migrations).length)
    log.logger.info({ path: opened.sqlitePath }, "created the database");
  else if (applied.length > 0) log.logger.info({ migrated: applied }, "migrated the database");
  if (newer.length > 0)
    log.logger.warn(
      { newer },
      "the database is of a newer version of Presage, which lets this one run on it",
    );
  try {
    const keyDigest = createKeyDigest(await sharedSecret(opened.database, "api_key_digest"));
    const writers = opened.sqlitePath === undefined ? undefined : startWriters(opened.sqlitePath);
    return {
      ...opened,
      owner: await ensureOwner(opened.database),
      keyDigest,
      writers,
      async destroy() {
        await writers?.end();
        await opened.destroy();
      },
    };
  } catch (error) {
    await opened.destroy();
    throw error;
  }
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
