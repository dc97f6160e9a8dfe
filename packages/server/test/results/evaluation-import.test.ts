import { expect, test } from "bun:test";
import { EvaluationResultBatchResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { post, search, find, importAll, summary } = evaluationResultsClient(() => presage);

  test("names of the maximum length are stored, found and counted, all at once", async () => {
    // Incompressible, so that a database cannot shrink it before indexing.
    const name = (seed: number) =>
      String.fromCodePoint(
        ...Array.from({ length: 200 }, (_, at) => 0x20000 + (((seed + at) * 7919) % 40_000)),
      );
    const metadata = { app: name(1), evaluation_run_id: name(2), dataset_id: name(3) };
    const evaluator = { evaluator_id: `external:${name(4)}`, profile_name: name(5) };
    const result = { ...metadata, profile_name: name(5), pass: true, tags: { tag: name(6) } };
    const [id = ""] = await importAll([{ ...result, evaluator_id: name(4) }]);
    expect(await search({ ...metadata, ...evaluator })).toMatchObject([{ id, ...metadata, ...evaluator }]);
    const group = { project_id: name(7), experiment_id: name(8), dataset_sample_id: name(9) };
    await importAll([{ evaluator_id: name(4), pass: true, ...group }]);
    const { project_id, experiment_id } = group;
    const order = "dataset_sample_id";
    expect(await search({ project_id, experiment_id, order })).toMatchObject([group]);
    const { groups } = await summary({ app: name(1), group_by: ["evaluator", "profile", "run"] });
    expect(groups).toMatchObject([
      { count: 1, key: { evaluation_run_id: name(2), evaluator_id: evaluator.evaluator_id } },
    ]);
  });

  test("an imported result is stored in full, and marked as imported", async () => {
    const response = await post("/batch", {
      evaluation_results: [
        {
          evaluator_id: "their-judge",
          profile_name: "their profile",
          pass: false,
          score_raw: 0.25,
          explanation: "Not 好",
          evaluation_duration: "PT1M0.25S",
          explanation_duration: "PT0,5S",
          evaluated_model_input: "in",
          evaluated_model_output: "",
          evaluated_model_gold_answer: "gold",
          evaluated_model_retrieved_context: "one text",
          evaluated_model_name: "a model",
          evaluated_model_params: { temperature: 0.1 },
          app: "imported",
          tags: { env: "prod" },
          dataset_id: "d",
          dataset_sample_id: 7,
          evaluation_run_id: "r",
        },
      ],
    });
    expect(response.status).toBe(201);
    const answer = EvaluationResultBatchResponse.parse(await response.json());
    const id = answer.evaluation_results[0]?.id ?? "";
    expect(answer.evaluation_results).toMatchObject([
      {
        id: expect.stringMatching(/^\d+$/),
        app: "imported",
        created_at: expect.stringMatching(/Z$/),
        evaluator_id: "external:their-judge",
      },
    ]);
    expect(await find(id)).toMatchObject({
      external: true,
      evaluator_id: "external:their-judge",
      evaluator_family: null,
      profile_name: "their profile",
      evaluator_profile_public_id: null,
      evaluator_profile_revision: null,
      status: "success",
      pass: false,
      score_raw: 0.25,
      explanation: "Not 好",
      explain_strategy: "always",
      evaluation_duration: "PT60.25S",
      explanation_duration: "PT0.5S",
      evaluated_model_output: "",
      evaluated_model_retrieved_context: ["one text"],
      evaluated_model_name: "a model",
      evaluated_model_params: { temperature: 0.1 },
      dataset_sample_id: 7,
      tags: { env: "prod" },
      evaluation_run_id: "r",
    });
    const [found] = await search({ evaluator_id: "their-judge", profile_name: "their profile" });
    expect(found?.id).toBe(id);
  });

  test("long numbers keep their digits", async () => {
    const exact = '{"seed":12345678901234567890,"a":1e400}';
    const app = "exact";
    const result = `{"evaluator_id":"x","pass":true,"app":"${app}","evaluated_model_params":${exact}}`;
    expect((await post("/batch", `{"evaluation_results":[${result}]}`)).status).toBe(201);
    expect(await (await post("/search", { app })).text()).toContain(exact);
  });

  test("verdicts and scores may be missing, and are counted as missing", async () => {
    const [id] = await importAll([{ evaluator_id: "e", app: "bare", pass: null, score_raw: null, tags: {} }]);
    expect(await find(id ?? "")).toMatchObject({
      pass: null,
      score_raw: null,
      explain_strategy: "never",
      tags: null,
    });
    expect(await search({ app: "bare", score_raw_min: 0 })).toEqual([]);
    expect((await summary({ app: "bare" })).groups).toMatchObject([
      {
        count: 1,
        scored: 0,
        passed: 0,
        not_passed: 0,
        failed: 0,
        pass_rate: null,
        mean_score: null,
        p50: null,
      },
    ]);
  });

  test("accepts the old names of the sample, and reports them as deprecated", async () => {
    const response = await post("/batch", {
      evaluation_results: [
        { evaluator_id: "old", criteria: "their profile", input: "in", output: "out", label: "gold" },
      ],
    });
    expect(response.headers.has("deprecation")).toBe(true);
    const [found] = await search({ evaluator_id: "old" });
    expect(found).toMatchObject({
      profile_name: "their profile",
      evaluated_model_input: "in",
      evaluated_model_output: "out",
      evaluated_model_gold_answer: "gold",
    });
  });

  test("a thousand are stored in order, with consecutive ids", async () => {
    const ids = await importAll(
      Array.from({ length: 1000 }, (_, index) => ({
        evaluator_id: "many",
        app: "many",
        pass: true,
        score_raw: index / 999,
        tags: { number: String(index) },
      })),
    );
    const first = Number(ids[0]);
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => String(first + index)));
    expect((await summary({ app: "many" })).groups[0]).toMatchObject({ count: 1000, passed: 1000 });
    const [found] = await search({ tags: { number: "500" } });
    expect(found?.id).toBe(ids[500] ?? "");
  });

  test("one issue rejects the whole import, and each is reported", async () => {
    const issues = await issuesOf(
      await post("/batch", {
        evaluation_results: [
          { evaluator_id: "all or nothing" },
          { pass: "yes", score_raw: 2 },
          { evaluator_id: "all or nothing", evaluation_duration: "fast", tags: { a: 1 } },
        ],
      }),
    );
    expect(locationsOf(issues)).toMatchObject([
      { type: "missing", loc: ["body", "evaluation_results", 1, "evaluator_id"] },
      { loc: ["body", "evaluation_results", 1, "pass"] },
      { loc: ["body", "evaluation_results", 1, "score_raw"] },
      { loc: ["body", "evaluation_results", 2, "evaluation_duration"] },
      { loc: ["body", "evaluation_results", 2, "tags", "a"] },
    ]);
    expect(await search({ evaluator_id: "all or nothing" })).toEqual([]);
  });

  test("invalid durations are rejected", async () => {
    const durations = ["P1Y", "PT1M", "P1M", `P${"9".repeat(300)}W`];
    const issues = await issuesOf(
      await post("/batch", {
        evaluation_results: durations.map((evaluation_duration) => ({
          evaluator_id: "slow",
          evaluation_duration,
        })),
      }),
    );
    expect(locationsOf(issues).map(({ loc }) => loc[2])).toEqual([0, 2, 3]);
  });

  test("no result, or more than a thousand, is rejected", async () => {
    await issuesOf(await post("/batch", { evaluation_results: [] }));
    const many = Array.from({ length: 1001 }, () => ({ evaluator_id: "e" }));
    await issuesOf(await post("/batch", { evaluation_results: many }));
  });
});
