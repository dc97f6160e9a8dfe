import { beforeAll, expect, test } from "bun:test";
import { Comparison, ExperimentResponse, Project, RunReport } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { evaluatorNamed, storeRevision, storeRun } from "../support/store/store-run.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { importAll, post } = evaluationResultsClient(() => presage);
  const { post: evaluate } = evaluationClient(() => presage);
  let project_id: string;

  beforeAll(async () => {
    const response = await presage.call("POST", "/v1/projects", { name: "reported" });
    project_id = Project.parse(await response.json()).id;
  });

  async function createExperiment(): Promise<string> {
    const response = await presage.call("POST", "/v1/experiments", { project_id, name: "reported" });
    return ExperimentResponse.parse(await response.json()).experiment.id;
  }

  async function report(id: string): Promise<RunReport> {
    const response = await presage.call("GET", `/v1/runs/${id}/report`);
    expect(response.status).toBe(200);
    return RunReport.parse(await response.json());
  }

  async function compare(...ids: string[]): Promise<Comparison> {
    const response = await presage.call("GET", `/v1/comparisons?runs=${ids.join(",")}`);
    expect(response.status).toBe(200);
    return Comparison.parse(await response.json());
  }

  /** Scores of six samples in three trajectories. */
  const sixScores = [1, 0.5, 1, 1, 0, 0];
  const resultOf = (score_raw: number, index: number) => ({
    evaluator_id: "theirs",
    profile_name: "strict",
    pass: score_raw >= 0.5,
    score_raw,
    dataset_id: "kitchen",
    dataset_sample_id: index,
    tags: { trajectory_id: `t${Math.floor(index / 2)}`, step: String(index % 2), split: "test" },
  });

  test("the report of an external run covers the results with its id, clustered by trajectory", async () => {
    const id = await createExperiment();
    await importAll(
      sixScores.map((score, index) => ({
        ...resultOf(score, index),
        // Either field may name the experiment; a result with both is one result.
        ...(index > 0 ? { experiment_id: id } : {}),
        ...(index < 3 ? { evaluation_run_id: id } : {}),
      })),
    );
    await importAll([{ ...resultOf(0, 0), experiment_id: "another" }]);
    const { run, evaluators, ...rest } = await report(id);
    expect(run.target).toEqual({ external: true });
    expect(rest).toMatchObject({
      latency_ms: null,
      predictions_per_second: null,
      tokens: { prompt: 0, cached: 0, completion: 0 },
      cost: null,
      failures: { predictions: {}, evaluations: {} },
      provenance: { models: [], warnings: [] },
    });
    expect(evaluators).toHaveLength(1);
    // The report equals that of a run of a dataset with these verdicts.
    await using opened = await openStore(presage.databaseUrl);
    const accountId = opened.owner.account_id;
    const samples = sixScores.map((_, index) => ({
      trajectory: `t${Math.floor(index / 2)}`,
      step: index % 2,
      tags: { split: "test" },
    }));
    const revision = await storeRevision(opened.database, accountId, samples);
    const predictions = sixScores.map((score) => [{ verdicts: [{ pass: score >= 0.5, score }] }]);
    const own = await report(await storeRun(opened.database, accountId, revision, { predictions }));
    const { evaluator, profile_name, profile_id, profile_revision, strata, ...figures } =
      own.evaluators[0] ?? {};
    expect(evaluators[0]).toEqual({
      evaluator: "external:theirs",
      profile_name: "strict",
      profile_id: null,
      profile_revision: null,
      ...figures,
      strata: { ...strata, changed: [], changes: [], verb: [] },
    } as never);
    expect(own.evaluators).toMatchObject([{ trajectories: 3 }]);
    for (const format of ["html", "md"]) {
      const page = await presage.call("GET", `/v1/runs/${id}/report?format=${format}`);
      expect(await page.text()).toContain("external:theirs");
    }
  });

  test("results without samples, without verdicts and without scores are counted as what they are", async () => {
    const id = await createExperiment();
    const experiment_id = id;
    await importAll([
      { evaluator_id: "alone", pass: true, experiment_id },
      { evaluator_id: "alone", pass: false, experiment_id },
      { evaluator_id: "alone", experiment_id },
      { evaluator_id: "score", score_raw: 0.5, experiment_id, dataset_sample_id: "a" },
      { evaluator_id: "score", score_raw: 1, experiment_id, dataset_sample_id: "a" },
      { evaluator_id: "score", score_raw: 0, experiment_id, dataset_sample_id: "b" },
    ]);
    const failing = await evaluate({
      evaluators: [{ evaluator: "json-schema" }, { evaluator: "exact-match" }],
      evaluated_model_output: "x",
      evaluated_model_gold_answer: "x",
      experiment_id,
    });
    expect(failing.status).toBe(200);
    const { evaluators, failures } = await report(id);
    const of = (name: string) => evaluators.find(({ evaluator }) => evaluator.startsWith(name));
    expect(of("external:alone")).toMatchObject({
      count: 2,
      failed: 1,
      trajectories: 2,
      graded: 0,
      mean: null,
      interval: null,
      pass_rate: 0.5,
      mean_failures_as_zero: null,
      pass_rate_failures_as_zero: expect.closeTo(1 / 3, 12),
      profile_name: null,
      strata: { step: [], trajectory: [], tag: [] },
    });
    expect(of("external:score")).toMatchObject({
      count: 2,
      trajectories: 2,
      mean: 0.375,
      pass_rate: null,
      pass_interval: null,
      pass_rate_failures_as_zero: null,
    });
    expect(of("exact-match-")).toMatchObject({
      count: 1,
      profile_name: "system:default",
      profile_revision: 1,
    });
    expect(failures.evaluations.incomplete).toBe(1);
  });

  test("an external run without results has an empty report", async () => {
    expect((await report(await createExperiment())).evaluators).toEqual([]);
  });

  test("external runs are compared on the samples that both name", async () => {
    const [one, other] = [await createExperiment(), await createExperiment()];
    await importAll(sixScores.map((score, index) => ({ ...resultOf(score, index), experiment_id: one })));
    await importAll([
      ...[1, 1, 0.25].map((score, index) => ({ ...resultOf(score, index), experiment_id: other })),
      { ...resultOf(1, 77), experiment_id: other },
      // Without a dataset, the sample matches none of another run.
      { ...resultOf(1, 3), dataset_id: undefined, experiment_id: other },
      { evaluator_id: "only here", pass: true, experiment_id: other },
    ]);
    const { runs, evaluators, evaluators_left_out } = await compare(one, other);
    expect(runs.map(({ left_out }) => left_out)).toEqual([3, 3]);
    expect(evaluators).toHaveLength(1);
    expect(evaluators[0]).toMatchObject({
      evaluator: "external:theirs",
      profile_name: "strict",
      profile_id: null,
      reference: { mean: 2.5 / 3, pass_rate: 1, count: 3 },
      candidates: [
        {
          run_id: other,
          mean: 2.25 / 3,
          pass_rate: expect.closeTo(2 / 3, 12),
          count: 3,
          trajectories: 2,
          wins: 1,
          losses: 1,
          ties: 1,
          only_in_reference: 3,
          only_in_candidate: 2,
          strata: { changed: [], changes: [] },
        },
      ],
    });
    expect(evaluators_left_out).toMatchObject([{ run_id: other, evaluator: "external:only here" }]);
    const listed = await presage.call(
      "GET",
      `/v1/comparisons/samples?runs=${one},${other}&evaluator=external:theirs&direction=worse`,
    );
    expect(listed.status).toBe(409);
  });

  test("scores of one external run and passes of another are not compared", async () => {
    const [scored, again, passed] = [
      await createExperiment(),
      await createExperiment(),
      await createExperiment(),
    ];
    const all = sixScores.map(resultOf);
    for (const experiment_id of [scored, again])
      await importAll(all.map((result) => ({ ...result, pass: undefined, experiment_id })));
    await importAll(all.map((result) => ({ ...result, score_raw: undefined, experiment_id: passed })));
    const [compared] = (await compare(scored, passed)).evaluators;
    expect(compared?.candidates).toMatchObject([{ count: 0, difference: null, interval: null }]);
    const alike = (await compare(scored, again, passed)).evaluators[0]?.candidates;
    expect(alike).toMatchObject([{ difference: null }, { difference: null }]);
  });

  test("a run of a dataset is compared with an external one by the ids of dataset and sample", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = opened.owner.account_id;
    const samples = ["a", "b"].map((trajectory) => ({ trajectory, step: 0 }));
    const revision = await storeRevision(opened.database, accountId, samples);
    const experiment_id = await createExperiment();
    const response = await post("/../evaluate", {
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: "x",
      evaluated_model_gold_answer: "x",
      experiment_id,
      dataset_id: revision.datasetId,
      dataset_sample_id: "b/0",
    });
    expect(response.status).toBe(200);
    const [found] = (await report(experiment_id)).evaluators;
    const evaluator = evaluatorNamed(found?.evaluator ?? "");
    const profile = { ...evaluator.profile, publicId: found?.profile_id ?? "" };
    const run = await storeRun(opened.database, accountId, revision, {
      evaluators: [{ ...evaluator, profile }],
      predictions: [1, 0].map((score) => [{ verdicts: [{ pass: score === 1, score }] }]),
    });
    for (const [first, second, difference] of [
      [run, experiment_id, 1],
      [experiment_id, run, -1],
    ] as const) {
      expect((await compare(first, second)).evaluators).toMatchObject([
        { reference: { count: 1 }, candidates: [{ run_id: second, count: 1, difference }] },
      ]);
    }
  });
});
