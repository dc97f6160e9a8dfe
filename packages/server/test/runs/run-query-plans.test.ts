import { expect, test } from "bun:test";
import { sql } from "kysely";
import { countRunsOf } from "../../src/datasets/datasets-store.ts";
import { selectTrajectories } from "../../src/datasets/samples-store.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { datasetOrder, selectRunSamples } from "../../src/runs/run-samples-store.ts";
import {
  claimRun,
  selectStoredPredictions,
  selectStoredVerdicts,
  selectTrajectoryLengths,
} from "../../src/runs/runner/work-store.ts";
import { deleteSomeOfDiscardedRun, selectRuns } from "../../src/runs/runs-store.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openPlanned } from "../support/store/planned-database.ts";

const page = { limit: 10, after: undefined };
const behind = { ...datasetOrder, limit: 10, after: { position: 5, repeat: 0, value: undefined } };
const dataset = { datasetId: "d", revisionId: 1, revision: 1 };

const reads: Record<string, (database: Database) => Promise<unknown>> = {
  "a page of runs": (database) => selectRuns(database, "a", {}, page),
  "the runs of a dataset": (database) => countRunsOf(database, "a", "d"),
  "a run that waits for a process": (database) => claimRun(database, "l", { now: 1, leaseMicros: 1 }),
  "a deleted run": (database) => deleteSomeOfDiscardedRun(database),
  "a page of predictions": (database) => selectRunSamples(database, { id: "r", dataset }, {}, behind),
  "a page of predictions by verdict": (database) =>
    selectRunSamples(database, { id: "r", dataset }, { evaluator: 0, pass: false, isChanged: true }, behind),
  "the predictions of a trajectory": (database) =>
    selectRunSamples(database, { id: "r", dataset }, { trajectoryId: "t" }, behind),
  "the predictions of a sample": (database) =>
    selectRunSamples(database, { id: "r", dataset }, { sampleId: "t/1" }, behind),
  "a page of trajectories": (database) =>
    selectTrajectories(database, 1, {
      contains: undefined,
      order: "trajectory_id",
      limit: 10,
      after: { steps: 3, trajectory_id: "t" },
    }),
  "predictions of samples": (database) => selectStoredPredictions(database, "r", [1, 2]),
  "verdicts on samples": (database) => selectStoredVerdicts(database, "r", 2, [1, 2]),
  trajectories: (database) => selectTrajectoryLengths(database, 1, "", 10),
};

onEachDatabase((database) => {
  const isSqlite = database.name === "SQLite";

  test("every read of runs walks an index", async () => {
    const { database: watched, plansOf } = await openPlanned(database, 1);
    // With few rows PostgreSQL would rather read them all.
    if (!isSqlite) await sql`set enable_seqscan = off`.execute(watched);
    for (const [name, read] of Object.entries(reads)) {
      const plans = await plansOf(() => read(watched));
      const isScan = isSqlite ? /SCAN (?!page\b|.* INDEX)|TEMP B-TREE/ : /Seq Scan/;
      expect([name, plans.filter((line) => isScan.test(line))]).toEqual([name, []]);
    }
    await watched.destroy();
  });
});
