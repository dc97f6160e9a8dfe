import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { compareRuns } from "../../src/runs/compare/compare-runs.ts";
import { selectComparedSamples } from "../../src/runs/compare/compared-samples-store.ts";
import { reportRun } from "../../src/runs/report/report-run.ts";
import { selectRun } from "../../src/runs/runs-store.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openPlanned, type PlannedDatabase } from "../support/store/planned-database.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";
import { storeRevision, storeRun } from "../support/store/store-run.ts";

const account = "plans";
/** Enough rows of other runs that PostgreSQL prefers an index to a full scan. */
const samples = Array.from({ length: 2_000 }, (_, index) => ({
  trajectory: `t${Math.floor(index / 10)}`,
  step: index % 10,
}));
const othersRuns = 8;
const emptyRuns = 500;

onAnyDatabase((database) => {
  const isSqlite = database.name === "SQLite";
  let watched: Database;
  let plansOf: PlannedDatabase["plansOf"];
  const runs: string[] = [];
  let otherRevision = "";

  beforeAll(async () => {
    ({ database: watched, plansOf } = await openPlanned(database));
    const verdict = { pass: true, score: 1 };
    const predictions = samples.map(() => [{ verdicts: [verdict] }]);
    const revision = await storeRevision(watched, account, samples);
    const another = await storeRevision(watched, account, samples);
    for (let run = 0; run < othersRuns; run += 1) {
      await storeRun(watched, account, await storeRevision(watched, account, samples), { predictions });
    }
    for (let run = 0; run < emptyRuns; run += 1) {
      await storeRun(watched, account, undefined, { predictions: [] });
    }
    for (let run = 0; run < 2; run += 1) {
      runs.push(await storeRun(watched, account, revision, { predictions, mode: "free-running" }));
    }
    otherRevision = await storeRun(watched, account, another, { predictions });
    await sql.raw(isSqlite ? "analyze" : "vacuum analyze").execute(watched);
  }, 300_000);
  afterAll(() => watched.destroy());

  async function find(id = "") {
    const run = await selectRun(watched, account, id);
    if (run === undefined) throw new Error("There is no such run");
    return run;
  }

  const isScan = (line: string) =>
    isSqlite
      ? /^SCAN (run_verdicts|predictions|runs|sample|trait|own|other|sample_traits|dataset_samples)\b/.test(
          line,
        )
      : /Seq Scan on (run_verdicts|predictions|runs|sample_traits|dataset_samples)/.test(line);

  test("A report reads its own rows only, by an index", async () => {
    const run = await find(runs[0]);
    const plans = await plansOf(() =>
      reportRun({ store: storeOf(watched) }, anyRequester(account), run, undefined),
    );
    expect(plans.filter(isScan)).toEqual([]);
  });

  test("A comparison reads the rows of its runs only, by an index", async () => {
    for (const ids of [runs, [runs[0], otherRevision]]) {
      const [first, second] = [await find(ids[0]), await find(ids[1])];
      const plans = await plansOf(() =>
        compareRuns({ store: storeOf(watched) }, anyRequester(account), [first, second]),
      );
      expect(plans.filter(isScan)).toEqual([]);
    }
  });

  test("The samples that differ are found among the rows of two runs", async () => {
    for (const ids of [runs, [runs[0], otherRevision]]) {
      const [reference, candidate] = await Promise.all(
        [ids[0], ids[1]].map(async (id) => {
          const run = await find(id);
          return { runId: run.id, revisionId: run.dataset?.revisionId ?? 0, evaluator: 0 };
        }),
      );
      if (reference === undefined || candidate === undefined) throw new Error("There are two runs");
      const page = { limit: 50, after: { distance: 5, position: 7 } };
      const plans = await plansOf(() =>
        selectComparedSamples(watched, { reference, candidate }, "worse", page),
      );
      expect(plans.filter(isScan)).toEqual([]);
    }
  });
});
