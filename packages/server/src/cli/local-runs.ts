import type { OpenedStore } from "../app/compose-command-line.ts";
import { composePrices } from "../app/compose-deployments.ts";
import type { Config } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { isInMemory } from "../platform/storage/sqlite.ts";
import { cancelRun, deleteRun, finishRun, pauseRun, resumeRun, sweepRun } from "../runs/change-run.ts";
import { compareRuns } from "../runs/compare/compare-runs.ts";
import { createExternalCounts } from "../runs/external/external-counts.ts";
import { findRun, listRuns } from "../runs/find-run.ts";
import { writeReport } from "../runs/report/report-route.ts";
import { reportRun } from "../runs/report/report-run.ts";
import type { Run, RunQueue } from "../runs/run.ts";
import { toRun } from "../runs/run-response.ts";
import { commandLineActor } from "./command-line-actor.ts";
import { findServer } from "./find-server.ts";
import { readAll } from "./local-datasets.ts";
import type { PlaceRuns } from "./place.ts";

const limit = 1_000;

/** The owner's runs in an opened database. */
export function localRuns(store: OpenedStore, config: Config, runs: RunQueue = { wake() {} }): PlaceRuns {
  const services = { store, runs, externalCounts: createExternalCounts() };
  const { signal } = new AbortController();
  const requester = { accountId: store.owner.account_id, signal, actor: commandLineActor() };

  async function report(id: string) {
    const run = await findRun(services, requester, id);
    const prices = await composePrices(config, createLog("silent").logger);
    return { run: toRun(run), ...(await reportRun(services, requester, run, prices.current())) };
  }

  return {
    list: (name) =>
      readAll(async (after: Keyset | undefined) => {
        const { rows, next } = await listRuns(services, requester, { name }, { limit, after });
        return { items: rows.map(toRun), next };
      }),
    get: async (id) => toRun(await findRun(services, requester, id)),
    cancel: async (id) => toRun(await cancelRun(services, requester, id)),
    pause: async (id) => toRun(await pauseRun(services, requester, id)),
    resume: async (id) => toRun(await resumeRun(services, requester, id)),
    finish: async (id) => toRun(await finishRun(services, requester, id)),
    async delete(id) {
      await deleteRun(services, requester, id);
      await sweepRun(store.database, id);
    },
    report,
    reportAs: async (id, format) => await writeReport(services, requester, await report(id), format),
    async compare(ids) {
      const found: Run[] = [];
      for (const id of ids) found.push(await findRun(services, requester, id));
      const [reference, ...candidates] = found;
      if (reference === undefined) throw new Error("There is no reference to compare with");
      const { leftOut, ...differences } = await compareRuns(services, requester, [reference, ...candidates]);
      const compared = found.map((run, index) => ({ ...toRun(run), left_out: leftOut[index] ?? 0 }));
      return { runs: compared, ...differences };
    },
    async findOrigin() {
      if (isInMemory(config.databaseUrl)) return undefined;
      return (await findServer(store.database, config)).running;
    },
  };
}
