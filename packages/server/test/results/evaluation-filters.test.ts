import { beforeAll, expect, test } from "bun:test";
import { EvaluationSummaryResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { issuesOf } from "../support/resources/validation-issues.ts";
import { onEachDatabase } from "../support/store/databases.ts";

const results = "/v1/evaluation-results";

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const { evaluate } = evaluationClient(() => presage);
  const { search } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    const regex = [{ evaluator: "regex" }];
    await evaluate({ evaluators: regex, evaluated_model_output: "x", tags: { side: "left" } });
    await evaluate({ evaluators: regex, evaluated_model_output: " ", tags: { side: "right" } });
    await evaluate({ evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "x" });
  });

  async function summarise(body: object) {
    const response = await presage.call("POST", `${results}/summary`, body);
    expect(response.status).toBe(200);
    return EvaluationSummaryResponse.parse(await response.json());
  }

  test.each(["search", "summary"])(
    "A %s refuses a filter that it does not know, unless it is null",
    async (of) => {
      const ask = (body: object) => presage.call("POST", `${results}/${of}`, body);
      const given = { evaluator: "regex", score_min: 0.5, favorite: null, pass: 1 };
      const issues = await issuesOf(await ask(given));
      expect(issues.map(({ type, loc }) => [type, loc])).toEqual([
        ["bool_type", ["body", "pass"]],
        ["extra_forbidden", ["body", "evaluator"]],
        ["extra_forbidden", ["body", "score_min"]],
      ]);
      expect((await ask({ project_id: null, experiment_id: null })).status).toBe(200);
    },
  );

  test("A tag named __proto__ is refused wherever tags are, as is a number that is not decimal", async () => {
    const tags = JSON.parse('{"__proto__":"x"}');
    const sample = { evaluators: [{ evaluator: "regex" }], evaluated_model_output: "x" };
    const imported = { evaluation_results: [{ evaluator_id: "x", pass: true, tags }] };
    for (const [method, path, body, loc] of [
      ["POST", "/v1/evaluate", { ...sample, tags }, ["body", "tags", "__proto__"]],
      ["POST", `${results}/batch`, imported, ["body", "evaluation_results", 0, "tags", "__proto__"]],
      ["POST", `${results}/search`, { tags }, ["body", "tags", "__proto__"]],
      ["GET", `${results}/export?tags=${JSON.stringify(tags)}`, undefined, ["query", "tags"]],
      ["DELETE", `${results}?dry_run=true&tags=${JSON.stringify(tags)}`, undefined, ["query", "tags"]],
      ["GET", `${results}/export?score_raw_min=0x10`, undefined, ["query", "score_raw_min"]],
    ] as const)
      expect((await issuesOf(await presage.call(method, path, body))).map((one) => one.loc)).toEqual([
        [...loc],
      ]);
  });

  test("An export rejects one too", async () => {
    const query = "evaluator=regex&pass=2&score_raw_min=0x10";
    const issues = await issuesOf(await presage.call("GET", `${results}/export?${query}`));
    expect(issues.map(({ type, loc }) => [type, loc])).toEqual([
      ["bool_parsing", ["query", "pass"]],
      ["float_parsing", ["query", "score_raw_min"]],
      ["extra_forbidden", ["query", "evaluator"]],
    ]);
  });

  test("A search with limit 1000 and offset 0 succeeds, and any other offset is rejected", async () => {
    expect(await search({ limit: 1000, offset: 0 })).toHaveLength(2);
    const [issue] = await issuesOf(await presage.call("POST", `${results}/search`, { offset: 50 }));
    expect(issue?.loc).toEqual(["body", "offset"]);
  });

  test.each([
    ["success", 2],
    ["validation_error", 1],
    ["failed", 0],
  ])("A summary of the status %s counts %d, from rollups and from results", async (status, count) => {
    for (const [filter, source] of [
      [{}, "rollups"],
      [{ after_id: 0 }, "results"],
    ] as const) {
      const summary = await summarise({ status, ...filter });
      expect(summary.source).toBe(source);
      expect(summary.groups.map((group) => group.count)).toEqual(count === 0 ? [] : [count]);
    }
  });

  test("An empty text selects as much as none, in a search and in its summary", async () => {
    const filter = { status: "success", evaluation_run_id: "", profile_name: "", dataset_id: "" };
    const found = await search(filter);
    const { groups } = await summarise(filter);
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(found.length);
    expect(found.length).toBe((await search({})).length);
  });

  test("A summary of a status and a verdict that exclude each other is empty", async () => {
    expect((await summarise({ status: "failed", pass: true })).groups).toEqual([]);
    expect((await summarise({ status: "success", pass: true })).groups.map(({ count }) => count)).toEqual([
      1,
    ]);
  });

  test("An alias finds its newest evaluator's results, unless some were imported under the alias itself", async () => {
    expect(await search({ evaluator_id: "regex" })).toHaveLength(2);
    const imported = { evaluator_id: "contains", pass: true, score_raw: 1 };
    await presage.call("POST", `${results}/batch`, { evaluation_results: [imported] });
    await evaluate({ evaluators: [{ evaluator: "contains" }], evaluated_model_output: "x" });
    expect((await search({ evaluator_id: "contains" })).map(({ external }) => external)).toEqual([true]);
    expect((await search({ evaluator_family: "contains" })).map(({ external }) => external)).toEqual([false]);
  });

  test("An unknown field of an evaluator is rejected: a profile must not be ignored", async () => {
    const body = { evaluators: [{ evaluator: "contains", profile: "mine" }], evaluated_model_output: "x" };
    const [issue] = await issuesOf(await presage.call("POST", "/v1/evaluate", body));
    expect([issue?.type, issue?.loc]).toEqual(["extra_forbidden", ["body", "evaluators", 0, "profile"]]);
  });

  test("Searches and exports find the results of runs, or those of none", async () => {
    const evaluators = [{ evaluator: "regex" }];
    const own = { app: "runs", evaluators, evaluated_model_output: "x" };
    await evaluate(own);
    await evaluate({ ...own, evaluation_run_id: "nightly" });
    const runsOf = async (has_run: boolean) =>
      (await search({ app: "runs", has_run })).map(({ evaluation_run_id }) => evaluation_run_id);
    expect([await runsOf(true), await runsOf(false)]).toEqual([["nightly"], [null]]);
    const exported = await presage.call("GET", `${results}/export?app=runs&has_run=false`);
    expect(JSON.parse(await exported.text())).toMatchObject({ evaluation_run_id: null });
  });
});
