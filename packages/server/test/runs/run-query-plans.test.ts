import { expect, test } from "bun:test";
import { type CompiledQuery, Kysely, CompiledQuery as Query } from "kysely";
import { selectTrajectories } from "../../src/evaluation/datasets/trajectories-store.ts";
import { countRunsOf, selectDiscardedRun } from "../../src/evaluation/runs/deleted-runs-store.ts";
import { claimRun } from "../../src/evaluation/runs/run-leases-store.ts";
import { inPlace, selectRunSamples } from "../../src/evaluation/runs/run-samples-store.ts";
import {
  selectKeptPredictions,
  selectKeptVerdicts,
  selectTrajectoryIds,
} from "../../src/evaluation/runs/run-work-store.ts";
import { selectRuns } from "../../src/evaluation/runs/runs-store.ts";
import { postgresDialect } from "../../src/storage/postgres/postgres-dialect.ts";
import type { Tables } from "../../src/storage/schema/tables.ts";
import { sqliteDialect } from "../../src/storage/sqlite/sqlite-dialect.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const page = { limit: 10, after: undefined };
const behind = { ...inPlace, limit: 10, after: { position: 5, repeat: 0, value: undefined } };
const dataset = { datasetId: "d", revisionId: 1, revision: 1 };

const reads: Record<string, (database: Kysely<Tables>) => Promise<unknown>> = {
  "a page of runs": (database) => selectRuns(database, "a", {}, page),
  "the runs of a dataset": (database) => countRunsOf(database, "a", "d"),
  "a run that waits for a process": (database) => claimRun(database, "l", { now: 1, leaseMicros: 1 }),
  "a deleted run": (database) => selectDiscardedRun(database),
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
      after: { steps: 3, trajectoryId: "t" },
    }),
  "predictions of samples": (database) => selectKeptPredictions(database, "r", [1, 2]),
  "verdicts on samples": (database) => selectKeptVerdicts(database, "r", 2, [1, 2]),
  trajectories: (database) => selectTrajectoryIds(database, 1, "", 10),
};

onEachDatabase((database) => {
  const isSqlite = database.name === "SQLite";

  test("every read of runs walks an index", async () => {
    const url = await database.create();
    await openStore(url).then((store) => store.destroy());
    const statements: CompiledQuery[] = [];
    const watched = new Kysely<Tables>({
      dialect: isSqlite
        ? sqliteDialect(url.slice("sqlite:".length))
        : postgresDialect(url, { maxConnections: 1, onConnectionLost() {} }),
      log: ({ query }) => void statements.push(query),
    });
    // With few rows PostgreSQL would rather read them all.
    if (!isSqlite) await watched.executeQuery(Query.raw("set enable_seqscan = off"));
    for (const [name, read] of Object.entries(reads)) {
      statements.length = 0;
      await read(watched);
      for (const { sql, parameters } of statements.filter(({ sql }) => /^(with|select)/i.test(sql))) {
        const prefix = isSqlite ? "explain query plan" : "explain";
        const plan = await watched.executeQuery<Record<string, string>>({
          ...Query.raw(`${prefix} ${sql}`),
          parameters,
        });
        const text = plan.rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
        expect([name, text]).toEqual([
          name,
          expect.not.stringMatching(isSqlite ? /SCAN (?!page\b|.* INDEX)|TEMP B-TREE/ : /Seq Scan/),
        ]);
      }
    }
    await watched.destroy();
  });
});
