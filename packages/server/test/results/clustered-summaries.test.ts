import { expect, test } from "bun:test";
import type { EvaluationSummaryGroup } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

const day = 86_400_000_000;
const firstDay = Date.UTC(2026, 5, 1) * 1000;

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const { summary, importAll, correct } = evaluationResultsClient(() => presage);

  async function store(app: string, fields: readonly StoredFields[]): Promise<void> {
    await using opened = await openStore(presage.databaseUrl);
    const inApp = fields.map(({ metadata, ...others }) => ({ ...others, metadata: { ...metadata, app } }));
    for (let at = 0; at < inApp.length; at += 500) {
      await storeResults(opened.database, opened.owner.account_id, inApp.slice(at, at + 500));
    }
  }

  /** The only group, from the counts of the rollup and from the results, which must be the same. */
  async function onlyGroup(filter: Record<string, unknown>): Promise<EvaluationSummaryGroup> {
    const rollups = await summary(filter);
    const results = await summary({ ...filter, after_id: 0 });
    expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
    expect(rollups.groups).toHaveLength(1);
    const [group] = rollups.groups as [EvaluationSummaryGroup];
    const [same] = results.groups as [EvaluationSummaryGroup];
    expect(same.pass_rate_interval?.lower ?? 0).toBeCloseTo(group.pass_rate_interval?.lower ?? 0, 9);
    expect(same.mean_score_interval?.upper ?? 1).toBeCloseTo(group.mean_score_interval?.upper ?? 1, 9);
    expect(same.clusters).toBe(group.clusters);
    return group;
  }

  const inTrajectory = (trajectory: number) => ({
    app: "",
    tags: { trajectory_id: `t${trajectory}`, step: "0" },
  });
  const verdict = (pass: boolean, score = Number(pass)) => ({ status: "success" as const, pass, score });

  test("verdicts on steps of one trajectory are not taken as independent", async () => {
    await store(
      "trajectories",
      Array.from({ length: 2_000 }, (_, index) => ({
        metadata: inTrajectory(Math.floor(index / 20)),
        outcome: verdict(Math.floor(index / 20) % 4 !== 0 || index % 10 === 0),
      })),
    );
    const group = await onlyGroup({ app: "trajectories" });
    expect(group).toMatchObject({
      count: 2_000,
      interval_method: "clustered",
      clusters: 100,
      pass_rate: 0.775,
    });
    // From statsmodels' CR1, scipy's t and its root of Wilson's equation, by docs/statistics.md. Independent results would give 0.756 to 0.793.
    expect(group.pass_rate_interval?.lower).toBeCloseTo(0.6887855877240595, 7);
    expect(group.pass_rate_interval?.upper).toBeCloseTo(0.8427823155174057, 7);
    // The scores equal the verdicts, so both intervals are the same.
    expect(group.mean_score_interval).toEqual(group.pass_rate_interval);
  });

  test("results that name neither a trajectory nor a sample are clusters of their own", async () => {
    const isInTrajectory = (index: number) => index < 200;
    await store(
      "mixed",
      Array.from({ length: 300 }, (_, index) => ({
        ...(isInTrajectory(index) ? { metadata: inTrajectory(Math.floor(index / 10)) } : {}),
        outcome: isInTrajectory(index)
          ? verdict(Math.floor(index / 10) % 3 !== 0, ((Math.floor(index / 10) * 37) % 101) / 101)
          : verdict(index % 4 !== 0, (index % 11) / 10),
      })),
    );
    const group = await onlyGroup({ app: "mixed" });
    expect(group).toMatchObject({ interval_method: "clustered", clusters: 120 });
    // The same figures from statsmodels and scipy, with each of the last hundred results as a group.
    expect(group.pass_rate_interval?.lower).toBeCloseTo(0.5251026919452622, 7);
    expect(group.pass_rate_interval?.upper).toBeCloseTo(0.8081092274972755, 7);
    expect(group.mean_score_interval?.lower).toBeCloseTo(0.3947317786676537, 7);
    expect(group.mean_score_interval?.upper).toBeCloseTo(0.5778184006315634, 7);
  });

  test("without names of trajectories and samples, intervals say that they take results as independent", async () => {
    await store(
      "alone",
      Array.from({ length: 148 }, (_, index) => ({ outcome: verdict(index < 15) })),
    );
    const group = await onlyGroup({ app: "alone" });
    expect(group).toMatchObject({ interval_method: "independent", clusters: null });
    // Newcombe's example: see wilson-interval.test.ts.
    expect(group.pass_rate_interval?.lower).toBeCloseTo(0.0624, 4);
  });

  test.each([
    [
      "of one sample, evaluated again",
      2,
      [{ dataset_sample_id: 7 }, { dataset_sample_id: "7" }, { dataset_sample_id: 8 }],
    ],
    [
      "of samples with one name in two datasets",
      2,
      [
        { dataset_id: "a", dataset_sample_id: 7 },
        { dataset_id: "b", dataset_sample_id: 7 },
        { dataset_id: "b", dataset_sample_id: 7 },
      ],
    ],
    [
      "of two samples of one trajectory",
      2,
      [
        { dataset_sample_id: 1, tags: { trajectory_id: "t" } },
        { dataset_sample_id: 2, tags: { trajectory_id: "t" } },
        { dataset_sample_id: 3 },
      ],
    ],
    [
      "of trajectories with one name in two datasets",
      2,
      [
        { dataset_id: "a", tags: { trajectory_id: "t" } },
        { dataset_id: "b", tags: { trajectory_id: "t" } },
        { dataset_id: "b", tags: { trajectory_id: "t" } },
      ],
    ],
    [
      "with an empty trajectory",
      2,
      [
        { dataset_sample_id: 1, tags: { trajectory_id: "" } },
        { dataset_sample_id: 1 },
        { dataset_sample_id: 2 },
      ],
    ],
  ])("imported results %s are in %d clusters", async (name, clusters, results) => {
    await importAll(
      results.map((fields, index) => ({ evaluator_id: "theirs", app: name, pass: index === 0, ...fields })),
    );
    expect(await onlyGroup({ app: name })).toMatchObject({
      interval_method: "clustered",
      clusters,
      count: 3,
    });
  });

  test("each group has its own clusters, by day, evaluator, profile, run and tag", async () => {
    const fields = Array.from(
      { length: 120 },
      (_, index): StoredFields => ({
        createdAt: firstDay + (index % 3) * day + index,
        evaluatorId: index % 2 === 0 ? "one" : "another",
        metadata: {
          app: "",
          // The second half names no trajectory.
          tags: {
            half: index < 60 ? "first" : "second",
            ...(index < 60 ? { trajectory_id: `t${index % 5}` } : {}),
          },
          ...(index % 4 === 0 ? { runId: "run" } : {}),
        },
        outcome: verdict(index % 7 < 4),
      }),
    );
    await store("groups", fields);
    const clustersBy = async (group_by: string[], more = {}) =>
      (await summary({ app: "groups", group_by, ...more })).groups.map(
        ({ key, count, clusters, interval_method }) => [
          Object.values(key)[0],
          count,
          clusters,
          interval_method,
        ],
      );
    expect(await clustersBy(["day"])).toEqual([
      ["2026-06-01", 40, 25, "clustered"],
      ["2026-06-02", 40, 25, "clustered"],
      ["2026-06-03", 40, 25, "clustered"],
    ]);
    expect((await clustersBy(["evaluator", "profile"])).sort()).toEqual([
      ["another", 60, 35, "clustered"],
      ["one", 60, 35, "clustered"],
    ]);
    expect(await clustersBy(["run"])).toEqual([
      [null, 90, 50, "clustered"],
      ["run", 30, 20, "clustered"],
    ]);
    expect((await clustersBy(["tag"], { tag: "half" })).sort()).toEqual([
      ["first", 60, 5, "clustered"],
      ["second", 60, null, "independent"],
    ]);
    expect(await clustersBy([], { tags: { half: "second" } })).toEqual([
      [undefined, 60, null, "independent"],
    ]);
    expect(await clustersBy([], { evaluator_id: "one", pass: true, evaluation_run_id: "run" })).toEqual([
      [undefined, 17, 13, "clustered"],
    ]);
  });

  test("a corrected verdict counts as corrected", async () => {
    const ids = await importAll(
      Array.from({ length: 30 }, (_, index) => ({
        evaluator_id: "theirs",
        app: "corrected",
        pass: true,
        tags: { trajectory_id: String(index % 10) },
      })),
    );
    const before = await onlyGroup({ app: "corrected" });
    expect(before.pass_rate_interval?.upper).toBe(1);
    for (const id of ids.slice(0, 2)) await correct(id, { pass: false });
    const after = await onlyGroup({ app: "corrected" });
    expect(after).toMatchObject({ passed: 28, clusters: 10 });
    expect(after.pass_rate_interval?.upper).toBeLessThan(1);
  });

  test("one cluster does not show how far clusters differ, so it has no interval", async () => {
    await store(
      "one trajectory",
      Array.from({ length: 20 }, (_, index) => ({
        metadata: inTrajectory(1),
        outcome: verdict(index % 2 === 0),
      })),
    );
    expect(await onlyGroup({ app: "one trajectory" })).toMatchObject({
      interval_method: "clustered",
      clusters: 1,
      pass_rate: 0.5,
      pass_rate_interval: null,
      mean_score_interval: null,
    });
  });

  test("on request there are no intervals, and everything else is the same", async () => {
    const whole = await summary({ group_by: ["app"] });
    const counts = await summary({ group_by: ["app"], intervals: false });
    expect(whole.groups.length).toBeGreaterThan(3);
    const without = {
      interval_method: null,
      clusters: null,
      pass_rate_interval: null,
      mean_score_interval: null,
    };
    expect(counts.groups).toEqual(whole.groups.map((group) => ({ ...group, ...without })));
  });
});
