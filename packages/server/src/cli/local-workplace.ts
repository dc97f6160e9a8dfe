import { composeRunner } from "../app/compose-command-line.ts";
import { needsSandbox } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import { readDatabaseClock } from "../platform/storage/clock.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import { diskFloorOf } from "../platform/storage/sqlite.ts";
import type { OpenOptions } from "../platform/storage/store.ts";
import { createRun, InvalidRunError } from "../runs/create-run.ts";
import { uploadPredictions } from "../runs/imported.ts";
import { newLeaseId, runLeaseMs } from "../runs/lease.ts";
import { toRun } from "../runs/run-response.ts";
import { readNewRun } from "../runs/runs-route.ts";
import { CommandError } from "./command-error.ts";
import { commandLineActor } from "./command-line-actor.ts";
import { checkEvaluatorsLocally, namingOptions } from "./evaluate-locally.ts";
import { hasEnded } from "./has-ended.ts";
import { localDatasets, nameFile } from "./local-datasets.ts";
import { localRuns } from "./local-runs.ts";
import { printSandboxNotice } from "./print-sandbox-notice.ts";
import { databaseName } from "./with-database.ts";
import type { Workplace } from "./workplace.ts";

const pollEveryMs = 300;

/** Runs in the configured database, on which this process works. */
export async function openLocalWorkplace(config: Config, options?: OpenOptions): Promise<Workplace> {
  const runner = await composeRunner(config, createLog("warn"), options);
  const { store, services } = runner;
  const { owner, database } = store;
  const accountId = owner.account_id;
  const actor = commandLineActor();
  const requester = { accountId, signal: new AbortController().signal, actor };
  const leaseId = newLeaseId();
  const runs = localRuns(store, config, services.runs);

  return {
    name: `the database ${databaseName(config.databaseUrl)}`,
    datasets: localDatasets(store, config),
    runs,
    checkEvaluators: (evaluators) =>
      checkEvaluatorsLocally(services, accountId, evaluators, services.hasModel),
    findDefaultDeployment: async () => runner.defaultDeployment,
    async create(wanted, evaluators) {
      const newRun = { ...readNewRun({ ...wanted, evaluators: [] }), evaluators, userId: owner.id };
      // A server on this database may have other deployments of the same names.
      const until = (await readDatabaseClock(database)) + runLeaseMs * microsPerMs;
      if ("deployment" in wanted.target && needsSandbox(config)) printSandboxNotice();
      const isAsked = newRun.target.kind !== "imported";
      const held = isAsked ? { ...newRun, heldBy: { leaseId, until } } : newRun;
      const created = createRun(services, requester, held, undefined);
      return toRun(
        await created.catch((error: unknown) => {
          throw error instanceof InvalidRunError
            ? new CommandError(`${error.path.join(".")}: ${error.message}`)
            : namingOptions(error, evaluators);
        }),
      );
    },
    async uploadPredictions(runId, { path, isGzip }) {
      const limits = { maxBytes: config.datasets.maxBytes, floor: diskFloorOf(config) };
      const upload = { accountId, actor, runId, isGzip, ...limits };
      return await nameFile(uploadPredictions(database, upload, Bun.file(path).stream()), path);
    },
    start: (id) => runner.start({ id, leaseId }),
    async waitUntilEnded(id, onProgress, signal) {
      for (;;) {
        const run = await runs.get(id);
        onProgress(run);
        if (hasEnded(run)) return run;
        await Bun.sleep(pollEveryMs);
        signal.throwIfAborted();
      }
    },
    close: runner.stop,
  };
}
