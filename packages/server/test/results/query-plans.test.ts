import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { numbersPerStretch } from "../../src/platform/storage/columns.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { findCorrections, selectAgreementCells } from "../../src/results/corrections-store.ts";
import { selectErrorFindings } from "../../src/results/error-findings-store.ts";
import {
  selectExperimentSizes,
  selectProjects,
  selectProjectsByNames,
} from "../../src/results/projects-store.ts";
import type { SearchFilter } from "../../src/results/search/filter.ts";
import { searchResults } from "../../src/results/search/search-results.ts";
import { selectApps, selectTags } from "../../src/results/search/values-store.ts";
import { summarise } from "../../src/results/summary/summary-route.ts";
import { selectScoreCounts } from "../../src/results/summary/summary-store.ts";
import { selectResult } from "../../src/results/write/stored-results-store.ts";
import {
  countResults,
  resultsParts,
  selectClientResults,
} from "../../src/runs/client/client-results-store.ts";
import {
  selectCounts,
  selectLatencies,
  selectModelTokens,
  type UsagePeriod,
} from "../../src/usage/usage-store.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openPlanned, type PlannedDatabase } from "../support/store/planned-database.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";

/** Enough rows that PostgreSQL prefers an index to a full scan. */
const results = 30_000;
const account = "plans";
const micros = Date.UTC(2026, 5, 1) * 1000;

const filters: Record<string, Partial<SearchFilter>> = {
  nothing: {},
  "an app": { app: "app1" },
  "a rare app": { app: "nowhere" },
  "an evaluator": { evaluatorId: "evaluator1" },
  "a family": { evaluatorFamily: "family1" },
  "a profile": { profileName: "profile1" },
  "a profile's id": { profilePublicId: "public1" },
  "a dataset": { datasetId: "dataset1" },
  "a sample": { datasetSampleId: "sample1" },
  "a run": { runId: "run1" },
  "a project": { projectId: "project1" },
  "an experiment": { experimentId: "experiment1" },
  "an imported evaluator": { evaluatorId: "evaluator1", isExternal: true },
  "an explanation": { isExplained: true },
  "no explanation and a run": { isExplained: false, runId: "run1" },
  "no run": { hasRun: false },
  "an explain strategy": { explainStrategy: "never" },
  "a status": { status: "failed" },
  "a status and an app": { status: "failed", app: "app1" },
  "a pass": { pass: true },
  "a tag": { tags: { name1: "value1" } },
  "two tags": { tags: { name1: "value1", name2: "value2" } },
  "a tag and a status": { tags: { name1: "value1" }, status: "failed" },
  "a least score": { minScore: 0.777 },
  "two scores": { minScore: 0.1234, maxScore: 0.987 },
  "an id": { afterId: results / 2, beforeId: results / 2 + 100 },
  "a time": { createdAfter: micros + 1e6, createdBefore: micros + 9e6 },
  "an app and a time": { app: "app1", createdBefore: micros + 9e6 },
  "much at once": { app: "app1", runId: "run1", pass: true, minScore: 0.5, tags: { name1: "value1" } },
};

onAnyDatabase((database) => {
  const isSqlite = database.name === "SQLite";
  let watched: Database;
  let plansOf: PlannedDatabase["plansOf"];

  beforeAll(async () => {
    ({ database: watched, plansOf } = await openPlanned(database));
    await fill(watched, isSqlite);
  }, 300_000);
  afterAll(() => watched.destroy());

  const isScan = (line: string) =>
    isSqlite
      ? /^SCAN (result|tag|payload|correction|other|series|error_finding_counts|usage_\w+|evaluation_(?!clock|times|tag_progress|\w+_deltas))\b/.test(
          line,
        )
      : /Seq Scan on (evaluation_(results|tags|payloads|corrections|series|counts)|error_finding_counts|usage_\w+)/.test(
          line,
        );
  const isSort = (line: string) => (isSqlite ? /TEMP B-TREE/.test(line) : /Sort/.test(line));

  describe.each(Object.entries(filters))("A search by %s", (_, filter) => {
    test.each(["newest-first", "oldest-first"] as const)("uses an index, %s", async (order) => {
      const page = { order, limit: 50 };
      const plans = await plansOf(async () => {
        const found = await searchResults(
          { store: storeOf(watched) },
          anyRequester(account),
          { status: "success", ...filter },
          page,
        );
        await Array.fromAsync(found.read());
      });
      expect(plans.filter(isScan)).toEqual([]);
      // A range of scores takes many index scans, whose first results are sorted; their number is bounded. And the rows counted
      // to choose the index may be sorted if they are fewer than the limit of the count.
      const isBounded =
        filter.minScore !== undefined || filter.isExplained !== undefined || (filter.tags && filter.status);
      if (!isBounded) expect(plans.filter(isSort)).toEqual([]);
    });
  });

  describe.each(Object.entries(filters))("A search by %s, in the order of samples", (_, filter) => {
    test("reads no more than what it sorts, or the index of samples", async () => {
      const page = { order: "first-sample-first", limit: 50 } as const;
      const place = { afterId: undefined, beforeId: undefined, ...filter };
      const plans = await plansOf(() =>
        searchResults(
          { store: storeOf(watched) },
          anyRequester(account),
          { status: "success", ...place },
          page,
        ),
      );
      expect(plans.filter(isScan)).toEqual([]);
    });
  });

  test("all results in the order of samples are read from their index", async () => {
    const page = { order: "last-sample-first", limit: 50 } as const;
    const filter = { status: "success", beforeId: 77 } as const;
    const plans = await plansOf(() =>
      searchResults({ store: storeOf(watched) }, anyRequester(account), filter, page),
    );
    expect(plans.join("\n")).toContain("evaluation_results_by_sample_key");
    expect(plans.filter(isScan)).toEqual([]);
    expect(plans.filter(isSort)).toEqual([]);
  });

  test("all results in the order of scores are read from their index", async () => {
    const page = { order: "highest-score-first", limit: 50 } as const;
    const plans = await plansOf(() =>
      searchResults({ store: storeOf(watched) }, anyRequester(account), { status: "success" }, page),
    );
    expect(plans.join("\n")).toContain("evaluation_results_by_score_mille");
    expect(plans.filter(isScan)).toEqual([]);
    expect(plans.filter(isSort)).toEqual([]);
  });

  test("the results of some samples are found by the index of samples", async () => {
    const filter = { status: "success", datasetSampleIds: ["t/1", "t/2"] } as const;
    const page = { order: "first-sample-first", limit: 50 } as const;
    const plans = await plansOf(() =>
      searchResults({ store: storeOf(watched) }, anyRequester(account), filter, page),
    );
    expect(plans.join("\n")).toContain("evaluation_results_by_sample_key");
    expect(plans.filter(isScan)).toEqual([]);
  });

  test("one result is found by its primary key", async () => {
    expect((await plansOf(() => selectResult(watched, account, 77))).filter(isScan)).toEqual([]);
  });

  test("a profile's corrections are found by an index", async () => {
    const plans = await plansOf(() => findCorrections(watched, account, "public1", 5));
    expect(plans.filter(isScan)).toEqual([]);
  });

  test("a profile's agreement is counted from its own corrections", async () => {
    const plans = await plansOf(() => selectAgreementCells(watched, account, "public1"));
    expect(plans.filter(isScan)).toEqual([]);
  });

  test("the errors of a revision are found by their primary key", async () => {
    const days = { fromDay: 3, untilDay: 5 };
    const plans = await plansOf(() => selectErrorFindings(watched, account, "revision1", days));
    expect(plans.filter(isScan)).toEqual([]);
  });

  test.each([
    ["usage", (period: UsagePeriod) => selectCounts(watched, { accountId: account, period }, 1_000)],
    [
      "usage of a key",
      (period: UsagePeriod) => selectCounts(watched, { accountId: account, period, keyId: "key7" }, 1_000),
    ],
    [
      "usage by model",
      (period: UsagePeriod) =>
        selectModelTokens(watched, { accountId: account, period, models: ["model1"] }, 1_000),
    ],
    ["latencies", (period: UsagePeriod) => selectLatencies(watched, account, period)],
  ])("%s is read from the account's hours alone", async (_, select) => {
    const plans = await plansOf(() => select({ fromHour: 240, untilHour: 288, hoursPerStep: 24 }));
    expect(plans.filter(isScan)).toEqual([]);
    expect(plans.join("\n")).toMatch(/account_id ?=.*hour ?>/);
  });

  test("a summary from the rollup reads no results", async () => {
    const wanted = {
      filter: { evaluatorId: "evaluator1" },
      dimensions: ["day" as const],
      hasIntervals: true,
    };
    const plans = await plansOf(() => summarise({ store: storeOf(watched) }, anyRequester(account), wanted));
    // An empty index shows that there are no clusters, whose results would otherwise be read.
    const reads = plans.filter((line) => /evaluation_results|SCAN series/.test(line));
    expect(reads).toEqual([expect.stringContaining("evaluation_results_in_clusters")]);
    // Counts not yet merged have no index, and are few; on SQLite there are none.
    expect(plans.filter((line) => /SCAN counts/.test(line)).length).toBeLessThanOrEqual(1);
  });

  test("a summary of everything by day reads the counts over all series", async () => {
    const wanted = { filter: {}, dimensions: ["day" as const], hasIntervals: false };
    const plans = await plansOf(() => summarise({ store: storeOf(watched) }, anyRequester(account), wanted));
    expect(plans.join("\n")).toContain("evaluation_total_counts");
    expect(plans.filter((line) => /evaluation_counts|SEARCH counts/.test(line))).toEqual([]);
  });

  test("the scores of an evaluator are found by the index of its series", async () => {
    const profile = { publicId: "public1", revision: 1 };
    const plans = await plansOf(() => selectScoreCounts(watched, account, "evaluator1", profile));
    expect(plans.join("\n")).toContain("evaluation_series_of_an_evaluator");
  });

  test("the apps of an account are read from an index, skipping its runs", async () => {
    const plans = await plansOf(() =>
      selectApps(watched, account, { limit: 50, after: undefined, offset: 0 }),
    );
    // PostgreSQL reads all of the few series of this test.
    const served = isSqlite ? /INDEX evaluation_series_of_an_app .*spans_runs=/ : /evaluation_series/;
    expect(plans.join("\n")).toMatch(served);
  });

  test.each([
    ["everything", {}, /evaluation_results_in_clusters/],
    ["an evaluator", { evaluatorId: "evaluator2" }, /evaluation_results_(in_clusters|by_evaluator_id)/],
    ["a run", { runId: "run7" }, /evaluation_results_by_run_id/],
  ])("the clusters of %s are found by an index", async (_, filter, index) => {
    const wanted = { filter, dimensions: ["evaluator" as const, "profile" as const], hasIntervals: true };
    const plans = await plansOf(() => summarise({ store: storeOf(watched) }, anyRequester(account), wanted));
    expect(plans.filter(isScan).filter((line) => /results/.test(line))).toEqual([]);
    expect(plans.join("\n")).toMatch(index);
  });

  test.each([
    ["everything", {}],
    ["an evaluator", { evaluatorId: "evaluator2" }],
  ])("of %s in a period, a summary with intervals reads the ids of that period alone", async (_, filter) => {
    const period = { createdAfter: micros + 29e6, createdBefore: micros + 295e5 };
    const wanted = {
      filter: { ...filter, ...period },
      dimensions: ["evaluator" as const],
      hasIntervals: true,
    };
    const plans = await plansOf(() => summarise({ store: storeOf(watched) }, anyRequester(account), wanted));
    // PostgreSQL prints the condition on the next line.
    const reads = plans.flatMap((line, at) =>
      /(SEARCH|SCAN|Scan .*) result(_\d)?\b/.test(line) ? [`${line} ${plans[at + 1]}`] : [],
    );
    // Verdicts, results without one, and results in clusters.
    expect(reads).toHaveLength(3);
    expect(reads.filter((read) => !/\bid ?>/.test(read))).toEqual([]);
  });

  test("the tags of an account are read from their index, each of them once", async () => {
    const after = { key: "name1", value: "value0" };
    const plans = await plansOf(() => selectTags(watched, account, { limit: 50, after }));
    expect(plans.filter(isScan)).toEqual([]);
  });

  test.each([
    ["projects", () => selectProjects(watched, account, { limit: 50, offset: 0 })],
    [
      "experiments",
      () => selectExperimentSizes(watched, account, { projectId: undefined, limit: 50, offset: 0 }),
    ],
    [
      "experiments of a project",
      () => selectExperimentSizes(watched, account, { projectId: "project1", limit: 50, offset: 0 }),
    ],
    ["results of an external run", () => countResults(watched, { id: "experiment1", account_id: account })],
    ...resultsParts.map((part): [string, () => Promise<unknown>] => [
      `results of an external run by ${part.column}, ${part.hasVerdict ? "with" : "without"} a verdict`,
      () =>
        selectClientResults(watched, { id: "experiment1", account_id: account }, part, {
          after: 0,
          limit: 50,
        }),
    ]),
    ["projects of a name", () => selectProjectsByNames(watched, account, ["name1"])],
  ])("%s are found by an index", async (_, select) => {
    const plans = await plansOf(select);
    expect(plans.filter((line) => /^SCAN|Seq Scan/.test(line))).toEqual([]);
    expect(plans.filter(isSort)).toEqual([]);
  });

  test("a summary of a rare tag reads only the tagged results", async () => {
    const wanted = {
      filter: { tags: { name1: "nothing" } },
      dimensions: ["day" as const],
      hasIntervals: true,
    };
    const plans = await plansOf(() => summarise({ store: storeOf(watched) }, anyRequester(account), wanted));
    expect(plans.filter(isScan)).toEqual([]);
  });
});

/** Most results belong to the account, a few to another one; every value is frequent. */
async function fill(database: Database, isSqlite: boolean): Promise<void> {
  const numbers = isSqlite
    ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${results}) select i from n) as numbers`
    : sql`generate_series(1, ${sql.lit(results)}) as numbers(i)`;
  await sql`insert into evaluation_results (id, account_id, created_at, app, evaluator_id, evaluator_family, profile_name,
      profile_public_id, profile_revision, status, explain_strategy, dataset_id, run_id, project_id, experiment_id, sample_key, is_external,
      pass, score, counted_pass, counted_score, score_mille, cluster_id)
    select i, case when i % 9 = 0 then 'others' else ${sql.lit(account)} end, ${sql.lit(micros)} + i * 1000, 'app' || (i % 4),
      'evaluator' || (i % 5), 'family' || (i % 5), 'profile' || (i % 7), 'public' || (i % 7), 1,
      case when i % 10 = 0 then 'failed' else 'success' end, case when i % 3 = 0 then 'never' else 'always' end,
      'dataset' || (i % 11), 'run' || (i % 50), 'project' || (i % 7), 'experiment' || (i % 50), 'sample' || (i % 100), 0, i % 2, (i % 1001) / 1000.0, i % 2, (i % 1001) / 1000.0, i % 1001, case when i % 5 = 2 then i / 20 end
    from ${numbers}`.execute(database);
  await sql`insert into evaluation_times (stretch, earliest, latest)
    select id / ${sql.lit(numbersPerStretch)}, min(created_at), max(created_at) from evaluation_results group by 1`.execute(
    database,
  );
  await sql`insert into evaluation_payloads (result_id, input) select i, 'text' from ${numbers}`.execute(
    database,
  );
  for (const name of [1, 2]) {
    await sql`insert into evaluation_tags (account_id, name, value, result_id)
      select ${sql.lit(account)}, ${sql.lit(`name${name}`)}, 'value' || (i % 3), i from ${numbers}`.execute(
      database,
    );
  }
  await sql`insert into evaluation_corrections (id, result_id, account_id, profile_public_id, user_id, pass, created_at)
    select 'correction' || i, i, ${sql.lit(account)}, 'public' || (i % 7), 'user', 1, i from ${numbers} where i % 10 = 1`.execute(
    database,
  );
  await sql`insert into evaluation_series (id, account_id, app, evaluator_id, evaluator_family, profile_name, profile_public_id,
      profile_revision, spans_runs, run_id)
    select 's' || i, case when i % 2 = 0 then 'others' else ${sql.lit(account)} end, 'app' || i, 'evaluator' || (i % 50),
      'family', 'profile', 'public1', 1, 1, '' from ${numbers} where i <= 2000`.execute(database);
  await sql`insert into evaluation_counts (series_id, day, verdict, score_mille, count, score_sum, score_sum_of_squares)
    select 's' || (1 + i % 2000), i / 2000, 'pass', 1000, 1, 1, 1 from ${numbers}`.execute(database);
  await sql`insert into error_finding_counts (account_id, revision_id, day, path_id, path, count)
    select ${sql.lit(account)}, 'revision' || (i % 100), i / 3000, 'path' || i, '[]', 1 from ${numbers}`.execute(
    database,
  );
  await sql`insert into projects (id, account_id, name, created_by, created_at)
    select 'project' || i, case when i % 100 = 0 then ${sql.lit(account)} else 'others' end, 'name' || i, 'user', i
    from ${numbers}`.execute(database);
  await sql`insert into runs (id, account_id, project_id, name, status, target_kind, target, mode, evaluators, repeats,
      concurrency, samples, predicted, evaluated, failed, provenance, notes, lease_until, created_by, created_at)
    select 'experiment' || i, case when i % 100 = 0 then ${sql.lit(account)} else 'others' end,
      'project' || (1 + i % 50), 'name' || i, 'running', case when i % 7 = 0 then 'deployment' else 'external' end,
      '{}', 'teacher-forced', '[]', 1, 1, 0, 0, 0, 0, '{}', '[]', 0, 'user', i from ${numbers}`.execute(
    database,
  );
  const accounts = sql`case when i % 2 = 0 then 'others' else ${sql.lit(account)} end`;
  await sql`insert into usage_counts (account_id, hour, key_id, operation, outcome, requests, prompt_tokens, completion_tokens)
    select ${accounts}, i / 20, 'key' || (i % 20), 'predict', '', 1, 1, 1 from ${numbers}`.execute(database);
  await sql`insert into usage_model_tokens (account_id, hour, key_id, operation, model, prompt_tokens, completion_tokens, upstream_cached_tokens)
    select ${accounts}, i / 20, 'key' || (i % 20), 'predict', 'model' || (i % 3), 1, 1, 0 from ${numbers}`.execute(
    database,
  );
  await sql`insert into usage_latencies (account_id, hour, measure, bucket, count)
    select ${accounts}, i / 20, 'total', i % 20, 1 from ${numbers}`.execute(database);
  if (!isSqlite) await sql`analyze`.execute(database);
}
