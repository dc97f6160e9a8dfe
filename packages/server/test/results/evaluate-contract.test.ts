import { describe, expect, test } from "bun:test";
import { type EvaluationResult, EvaluationResultResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const duration = /^PT\d+(\.\d+)?S$/;
const exactMatchId = /^exact-match-\d{4}-\d\d-\d\d$/;

/** The contract's request table: a name, the deprecated name that it replaces, and a value. */
const requestFields = [
  ["evaluated_model_retrieved_context", "retrieved_context", ["a hall", "a door"]],
  ["evaluated_model_input", "input", "State: a closed door\n\nAction: open door"],
  ["evaluated_model_output", "output", "The door is open."],
  ["evaluated_model_gold_answer", "label", "The door is open."],
  ["evaluated_model_system_prompt", "system_prompt", "You are a world model."],
] as const;

/** The contract's result table: a field and its value in the example below. */
const resultFields: [keyof EvaluationResult, unknown][] = [
  ["id", expect.stringMatching(/^\d+$/)],
  ["app", "default"],
  ["created_at", expect.stringMatching(dateTime)],
  ["evaluator_id", expect.stringMatching(exactMatchId)],
  ["profile_name", "system:default"],
  ["evaluated_model_system_prompt", "You are a world model."],
  ["evaluated_model_retrieved_context", ["a hall", "a door"]],
  ["evaluated_model_input", "State: a closed door\n\nAction: open door"],
  ["evaluated_model_output", "The door is open."],
  ["evaluated_model_gold_answer", "The door is open."],
  ["explain_strategy", "always"],
  ["pass", true],
  ["score_raw", 1],
  ["explanation", "The output equals the gold answer."],
  ["evaluation_duration", expect.stringMatching(duration)],
  ["explanation_duration", expect.stringMatching(duration)],
  ["evaluation_run_project_id", null],
  ["evaluation_run_id", null],
  ["evaluator_family", "exact-match"],
  ["evaluator_profile_public_id", expect.stringMatching(uuid)],
  ["evaluated_model_id", null],
  ["evaluated_model_name", null],
  ["evaluated_model_provider", null],
  ["evaluated_model_params", null],
  ["evaluated_model_selected_model", null],
  ["dataset_id", null],
  ["dataset_sample_id", null],
  ["tags", null],
  ["external", false],
];

/** Deprecated fields of a result and the ones that replace them. */
const replacedFields: [keyof EvaluationResult, keyof EvaluationResult][] = [
  ["system_prompt", "evaluated_model_system_prompt"],
  ["retrieved_context", "evaluated_model_retrieved_context"],
  ["input", "evaluated_model_input"],
  ["output", "evaluated_model_output"],
  ["label", "evaluated_model_gold_answer"],
  ["score_normalized", "score_raw"],
];

const today = {
  evaluators: [{ evaluator: "exact-match", profile_name: "system:default", explain_strategy: "always" }],
  ...Object.fromEntries(requestFields.map(([name, , value]) => [name, value])),
};
const yesterday = {
  criteria: [{ criterion_id: "exact-match", profile_name: "system:default", explain: true }],
  ...Object.fromEntries(requestFields.map(([, oldName, value]) => [oldName, value])),
};

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  const { post, evaluate, resultOf } = evaluationClient(() => presage);
  const { find, search } = evaluationResultsClient(() => presage);

  describe.each([
    ["today's", today],
    ["old", yesterday],
  ])("A request in %s names", (_, request) => {
    test("gets an item with every field of the contract, under new and old names", async () => {
      const [item] = await evaluate(request);
      expect(item as unknown).toEqual({
        evaluator_id: expect.stringMatching(exactMatchId),
        criterion_id: item?.evaluator_id,
        profile_name: "system:default",
        criteria: "system:default",
        status: "success",
        error_message: null,
        evaluation_result: expect.any(Object),
        result: item?.evaluation_result,
      });
    });

    test.each(resultFields)("gets a result whose %s is as in the contract", async (name, value) => {
      expect((await resultOf(request))[name] as unknown).toEqual(value);
    });

    test.each(replacedFields)("gets %s with the value of %s", async (oldName, name) => {
      const result = await resultOf(request);
      expect(result[oldName]).toEqual(result[name]);
    });

    test("gets the rest of the old names and the nulls of the contract's example", async () => {
      const result = await resultOf(request);
      expect(result.explain).toBe(true);
      expect(result.additional_info).toEqual({
        positions: null,
        extra: null,
        confidence_interval: null,
        score_raw: 1,
      });
    });

    test("finds the same result by id, in a list and by a search", async () => {
      const result = await resultOf(request);
      expect(await find(result.id)).toEqual(result);
      expect((await search({ limit: 1 }))[0]).toEqual(result);
      const response = await presage.call("GET", `/v1/evaluation-results/${result.id}`);
      const answer = EvaluationResultResponse.parse(await response.json());
      expect(answer.evaluation_results).toEqual([answer.evaluation_result]);
    });
  });

  describe("The Deprecation header", () => {
    test("is sent for old names, and the metrics count them by key", async () => {
      const counted = async () => {
        const text = await (await presage.call("GET", "/metrics")).text();
        return Number(/^presage_deprecated_requests_total\{key_id="[^"]+"\} (\d+)$/m.exec(text)?.[1]);
      };
      await post(yesterday);
      const before = await counted();
      expect((await post(yesterday)).headers.get("deprecation")).toMatch(/^@\d+$/);
      expect(await counted()).toBe(before + 1);
    });

    test.each([
      [
        "a list of criteria",
        { ...today, evaluators: undefined, criteria: [{ criterion_id: "exact-match" }] },
      ],
      ["an evaluator's old id", { ...today, evaluators: [{ evaluator_id: "exact-match" }] }],
      ["explain", { ...today, evaluators: [{ evaluator: "exact-match", explain: false }] }],
      ["explain at the top", { ...today, explain: "on-fail" }],
      ...requestFields.map(([, oldName, value]) => [oldName, { ...today, [oldName]: value }] as const),
    ])("comes for %s alone", async (_, request) => {
      const response = await post(request);
      expect(response.status).toBe(200);
      expect(response.headers.has("deprecation")).toBe(true);
    });

    test("is not sent without old names, nor for old names that are null", async () => {
      expect((await post(today)).headers.has("deprecation")).toBe(false);
      const nulls = Object.fromEntries(requestFields.map(([, oldName]) => [oldName, null]));
      expect(
        (await post({ ...today, ...nulls, criteria: null, explain: null })).headers.has("deprecation"),
      ).toBe(false);
    });
  });

  describe("Of an old name and a new one", () => {
    test.each(requestFields)("%s is used, and %s is ignored", async (name, oldName, value) => {
      const other = typeof value === "string" ? "something else" : ["something else"];
      expect((await resultOf({ ...today, [oldName]: other }))[name] as unknown).toEqual(value);
    });

    test("the new evaluators, evaluator and explain_strategy are used", async () => {
      const evaluators = [
        { evaluator: "exact-match", evaluator_id: "nothing", explain_strategy: "never", explain: true },
      ];
      const result = await resultOf({ ...today, evaluators, criteria: [{ criterion_id: "nothing" }] });
      expect(result.explain_strategy).toBe("never");
      expect(result.explain).toBe(false);
    });
  });

  test.each([
    [true, "always"],
    [false, "never"],
    ["on-fail", "on-fail"],
    ["on-success", "on-success"],
  ])("The old explain %p means the strategy %s", async (explain, strategy) => {
    const result = await resultOf({ ...today, evaluators: [{ evaluator: "exact-match", explain }] });
    expect(result.explain_strategy).toBe(strategy as EvaluationResult["explain_strategy"]);
    expect(result.explain).toBe(explain as EvaluationResult["explain"]);
  });
});
