import { describe, expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { issuesOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { say } from "../support/upstream/judge.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const same = {
  evaluated_model_output: "The door is open.",
  evaluated_model_gold_answer: "The door is open.",
};
const other = { ...same, evaluated_model_output: "The door is closed." };
const exactMatch = [{ evaluator: "exact-match" }];

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_TIMEOUT_MS: "1500",
  });
  const { post, evaluate, resultOf } = evaluationClient(() => presage);
  const { find, search } = evaluationResultsClient(() => presage);

  describe("A verdict", () => {
    test("of fail says where and why", async () => {
      const result = await resultOf({ ...other, evaluators: exactMatch });
      expect(result).toMatchObject({ pass: false, score_raw: 0, status: "success" });
      expect(result.explanation).toContain("closed");
      expect(result.additional_info.positions).toEqual([[12, 19]]);
    });

    test.each([
      ["always", true, true],
      ["never", false, false],
      ["on-fail", false, true],
      ["on-success", true, false],
    ])(
      "with the strategy %s is explained: a pass %p, a fail %p",
      async (explain_strategy, onPass, onFail) => {
        const evaluators = [{ evaluator: "exact-match", explain_strategy }];
        for (const [sample, isExplained] of [
          [same, onPass],
          [other, onFail],
        ] as const) {
          const result = await resultOf({ ...sample, evaluators });
          expect(result.explanation !== null).toBe(isExplained);
          expect(result.explanation_duration !== null).toBe(isExplained);
        }
      },
    );

    test("is explained in any script, and read back in the same words", async () => {
      upstream.answer = () => say({ reasoning: "no \0 and \ud83d half", verdict: "pass", score: null });
      const evaluators = [{ evaluator: "judge", profile_name: "system:is-concise" }];
      const result = await resultOf({ ...same, evaluators });
      expect(result.explanation).toBe("no \ufffd and \ufffd half");
      expect(await find(result.id)).toEqual(result);
    });

    test("with a tag of the maximum size is stored and found by it", async () => {
      // Incompressible, so that a database cannot shrink it before indexing.
      const characters = Array.from({ length: 799 }, (_, index) => 0x4e00 + ((index * 7919) % 20_000));
      const tags = { tag: String.fromCodePoint(...characters) };
      const { id } = await resultOf({ ...same, evaluators: exactMatch, tags });
      expect(await search({ tags })).toMatchObject([{ id, tags }]);
    });

    test("is stored with the caller's metadata", async () => {
      const metadata = {
        app: "night runs",
        tags: { model: "qwen", größe: "7B" },
        dataset_id: "sciworld",
        dataset_sample_id: 17,
        evaluation_run_id: "run 1",
        evaluation_run_project_id: "project",
        evaluated_model_id: "m-1",
        evaluated_model_name: "world",
        evaluated_model_provider: "us",
        evaluated_model_params: { temperature: 0.2, stop: null },
        evaluated_model_selected_model: "base",
      };
      const result = await resultOf({ ...same, ...metadata, evaluators: exactMatch });
      expect(result).toMatchObject(metadata);
      expect(await find(result.id)).toEqual(result);
      expect(await resultOf({ ...same, dataset_sample_id: "s-1", evaluators: exactMatch })).toMatchObject({
        dataset_sample_id: "s-1",
      });
    });

    test("keeps its texts unchanged: Unicode, empty, one megabyte", async () => {
      for (const text of ["", "ein Tür-Öffner 🚪 ‮abc", "x".repeat(1_000_000)]) {
        const sample = { evaluated_model_output: text, evaluated_model_gold_answer: text };
        const result = await resultOf({ ...sample, evaluators: exactMatch });
        expect(result).toMatchObject({ ...sample, pass: true });
        expect((await find(result.id)).evaluated_model_output).toBe(text);
      }
    });

    test("accepts retrieved context as a list or as one string", async () => {
      for (const given of ["a hall", ["a hall"]]) {
        const result = await resultOf({
          ...same,
          evaluated_model_retrieved_context: given,
          evaluators: exactMatch,
        });
        expect(result.evaluated_model_retrieved_context).toEqual(["a hall"]);
      }
    });
  });

  describe("Several evaluators", () => {
    test("respond in request order, by id and by alias", async () => {
      const [first] = await evaluate({ ...same, evaluators: exactMatch });
      const id = first?.evaluator_id;
      const items = await evaluate({
        ...same,
        evaluators: [{ evaluator: "token-f1" }, { evaluator: id }, { evaluator: "contains" }],
      });
      expect(items.map(({ evaluation_result }) => evaluation_result?.evaluator_family)).toEqual([
        "token-f1",
        "exact-match",
        "contains",
      ]);
      const ids = items.map(({ evaluation_result }) => Number(evaluation_result?.id));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect(new Set(ids).size).toBe(3);
    });

    test("are independent: one lacks its input, one fails, one succeeds", async () => {
      upstream.answer = () => Response.json(completion("I would rather not say."));
      const items = await evaluate({
        evaluated_model_output: "yes",
        evaluators: [
          { evaluator: "exact-match" },
          { evaluator: "judge", profile_name: "system:is-concise" },
          { evaluator: "json-schema" },
          { evaluator: "regex" },
        ],
      });
      expect(items.map(({ status }) => status)).toEqual(["validation_error", "failed", "success", "success"]);
      expect(items[0]?.error_message).toBe("missing_input: evaluated_model_gold_answer is missing.");
      expect(items[1]?.error_message).toMatch(/^judge_invalid_verdict: /);
      expect(items.slice(0, 2).map(({ evaluation_result }) => evaluation_result)).toEqual([null, null]);
    });

    test("require the inputs that their profile's criteria mention", async () => {
      const judge = { evaluator: "judge", profile_name: "system:grounded-in-context" };
      const [item] = await evaluate({ ...same, evaluated_model_retrieved_context: [], evaluators: [judge] });
      expect([item?.status, item?.error_message]).toEqual([
        "validation_error",
        "missing_input: evaluated_model_retrieved_context is missing.",
      ]);
    });

    test("run concurrently, each with its own deadline", async () => {
      let asked = 0;
      const askedAtFirstEnd = Promise.withResolvers<number>();
      upstream.answer = (_, { signal }) => {
        asked += 1;
        signal.addEventListener("abort", () => askedAtFirstEnd.resolve(asked));
        return new Promise(() => {});
      };
      const judge = { evaluator: "judge", profile_name: "system:is-concise" };
      const items = await evaluate({
        ...same,
        evaluators: [judge, judge, judge, { evaluator: "exact-match" }],
      });
      expect(await askedAtFirstEnd.promise).toBe(3);
      expect(items.map(({ status }) => status)).toEqual(["failed", "failed", "failed", "success"]);
      expect(items[0]?.error_message).toMatch(/^timeout: /);
    });
  });

  describe("What is captured", () => {
    const count = async (app: string) => (await search({ app })).length;

    test.each([
      ["all", 2],
      ["fails-only", 1],
      ["none", 0],
    ])("with capture %s is %d of a pass and a fail", async (capture, kept) => {
      const app = `capture ${capture}`;
      const [passed] = await evaluate({ ...same, app, capture, evaluators: exactMatch });
      const [failed] = await evaluate({ ...other, app, capture, evaluators: exactMatch });
      expect(await count(app)).toBe(kept);
      expect(passed?.evaluation_result).toMatchObject({ pass: true, score_raw: 1 });
      expect(passed?.evaluation_result?.id === null).toBe(capture !== "all");
      expect(failed?.evaluation_result?.id === null).toBe(capture === "none");
    });

    test("includes failed evaluations, under their status", async () => {
      const app = "no verdict";
      await evaluate({ evaluated_model_output: "x", app, evaluators: exactMatch });
      expect(await search({ app })).toEqual([]);
      const [result] = await search({ app, status: "validation_error" });
      expect(result).toMatchObject({ pass: null, score_raw: null, explanation: null, app });
      expect(result?.error_message).toMatch(/^missing_input: /);
    });
  });

  describe("The confidence interval", () => {
    test("covers all earlier scores, with its five keys", async () => {
      const evaluators = [{ evaluator: "edit-distance" }];
      const ask = (evaluated_model_output: string) =>
        resultOf({
          evaluated_model_output,
          evaluated_model_gold_answer: "aaaaaaaaaa",
          evaluators,
          confidence_interval_strategy: "full-history",
        });
      const none = await ask("aaaaaaaaaa");
      expect(none.additional_info.confidence_interval).toEqual({
        strategy: "full-history",
        alpha: 0.05,
        lower: null,
        median: null,
        upper: null,
      });
      for (let wrong = 1; wrong <= 9; wrong += 1) await ask("b".repeat(wrong).padEnd(10, "a"));
      const { confidence_interval } = (await ask("aaaaaaaaaa")).additional_info;
      // Ten scores from 0.1 to 1: at most the sixth-lowest, and ranks 2 and 9 of the distribution-free interval.
      expect(confidence_interval?.median).toBeCloseTo(0.55, 1);
      expect(confidence_interval?.lower).toBeLessThan(confidence_interval?.median ?? 0);
      expect(confidence_interval?.upper).toBeGreaterThan(confidence_interval?.median ?? 1);
      expect((await resultOf({ ...same, evaluators })).additional_info.confidence_interval).toBeNull();
    });
  });

  describe("A request that cannot be evaluated", () => {
    test.each([
      ["has no evaluators", { ...same }, ["body", "evaluators"], "missing"],
      ["has an empty list of them", { ...same, evaluators: [] }, ["body", "evaluators"], "too_short"],
      [
        "has 21 of them",
        { ...same, evaluators: Array(21).fill({ evaluator: "exact-match" }) },
        ["body", "evaluators"],
        "too_long",
      ],
      ["names none", { ...same, evaluators: [{}] }, ["body", "evaluators", 0, "evaluator"], "missing"],
      [
        "names an unknown one",
        { ...same, evaluators: [{ evaluator: "exact-match" }, { evaluator: "nothing" }] },
        ["body", "evaluators", 1, "evaluator"],
        "value_error",
      ],
      [
        "names an unknown one under the old name",
        { ...same, criteria: [{ criterion_id: "nothing" }] },
        ["body", "criteria", 0, "criterion_id"],
        "value_error",
      ],
      [
        "names an unknown profile",
        { ...same, evaluators: [{ evaluator: "exact-match", profile_name: "nothing" }] },
        ["body", "evaluators", 0, "profile_name"],
        "value_error",
      ],
      [
        "names no profile although the family has no default",
        { ...same, evaluators: [{ evaluator: "judge" }] },
        ["body", "evaluators", 0, "profile_name"],
        "missing",
      ],
      [
        "has neither input nor output",
        { evaluated_model_gold_answer: "x", evaluators: exactMatch },
        ["body", "evaluated_model_output"],
        "missing",
      ],
      [
        "has 51 texts of context",
        { ...same, evaluators: exactMatch, evaluated_model_retrieved_context: Array(51).fill("x") },
        ["body", "evaluated_model_retrieved_context"],
        "too_long",
      ],
      [
        "has tags that are not strings",
        { ...same, evaluators: exactMatch, tags: { n: 1 } },
        ["body", "tags", "n"],
        "string_type",
      ],
      [
        "has a tag whose name is too long for an index",
        { ...same, evaluators: exactMatch, tags: { ["n".repeat(2_500)]: "x" } },
        ["body", "tags"],
        "value_error",
      ],
      [
        "has a tag of too many bytes for an index",
        { ...same, evaluators: exactMatch, tags: { n: "語".repeat(900) } },
        ["body", "tags"],
        "value_error",
      ],
      [
        "has an unknown strategy",
        { ...same, evaluators: [{ evaluator: "exact-match", explain_strategy: "sometimes" }] },
        ["body", "evaluators", 0, "explain_strategy"],
        "literal_error",
      ],
    ])("because it %s gets 422 at its place", async (_, body, loc, type) => {
      const response = await post(body);
      expect(response.status).toBe(422);
      const [issue] = await issuesOf(response);
      expect(issue?.loc).toEqual(loc);
      expect(issue?.type).toBe(type);
    });

    test("gets every missing and unknown field in one response, with the object around each", async () => {
      const judge = { evaluator: "judge" };
      const evaluators = [{ evaluator: "nope" }, { explain_strategy: "never" }, judge];
      const body = { app: "all at once", evaluators };
      const issues = await issuesOf(await post(body));
      expect(issues.map(({ type, loc, input }) => ({ type, loc, input }))).toEqual([
        { type: "missing", loc: ["body", "evaluated_model_output"], input: body },
        { type: "value_error", loc: ["body", "evaluators", 0, "evaluator"], input: "nope" },
        { type: "missing", loc: ["body", "evaluators", 1, "evaluator"], input: evaluators[1] },
        { type: "missing", loc: ["body", "evaluators", 2, "profile_name"], input: judge },
      ]);
      expect(await search({ app: "all at once" })).toEqual([]);
    });

    test("gets what is missing and unknown beside fields of the wrong type", async () => {
      const body = { app: 1, tags: { n: 1 }, confidence_interval_strategy: "some" };
      expect((await issuesOf(await post(body))).map(({ loc }) => loc.join("."))).toEqual([
        "body.app",
        "body.tags.n",
        "body.confidence_interval_strategy",
        "body.evaluators",
        "body.evaluated_model_output",
      ]);
      const criteria = [{ criterion_id: "nope" }, { criterion_id: "judge" }];
      const issues = await issuesOf(await post({ ...same, tags: { n: 1 }, criteria }));
      expect(issues.map(({ type, loc }) => [type, loc.join(".")])).toEqual([
        ["string_type", "body.tags.n"],
        ["value_error", "body.criteria.0.criterion_id"],
        ["missing", "body.criteria.1.profile_name"],
      ]);
    });

    test("has no evaluators if its only list is empty and under the old name", async () => {
      const issues = await issuesOf(await post({ ...same, criteria: [] }));
      expect(issues).toMatchObject([{ type: "missing", loc: ["body", "evaluators"] }]);
      expect(await resultOf({ ...same, criteria: [], evaluators: exactMatch })).toMatchObject({ pass: true });
    });

    test("runs nothing and reports every issue", async () => {
      const app = "nothing runs";
      const evaluators = [
        { evaluator: "exact-match" },
        { evaluator: "a" },
        { evaluator: "judge", profile_name: "b" },
      ];
      const issues = await issuesOf(await post({ ...same, app, evaluators }));
      expect(issues.map(({ loc }) => loc)).toEqual([
        ["body", "evaluators", 1, "evaluator"],
        ["body", "evaluators", 2, "profile_name"],
      ]);
      expect(await search({ app })).toEqual([]);
    });
  });

  test("Explicit nulls are treated as omitted", async () => {
    const nulls = Object.fromEntries(
      [
        "evaluated_model_system_prompt",
        "evaluated_model_retrieved_context",
        "evaluated_model_input",
        "app",
        "tags",
        "dataset_id",
        "dataset_sample_id",
        "capture",
        "confidence_interval_strategy",
        "project_id",
        "experiment_id",
        "evaluated_model_attachments",
      ].map((name) => [name, null]),
    );
    const evaluators = [
      { evaluator: "exact-match", profile_name: null, criteria: null, explain_strategy: null },
    ];
    expect(await resultOf({ ...same, ...nulls, evaluators })).toMatchObject({
      app: "default",
      explain_strategy: "always",
      profile_name: "system:default",
      tags: null,
    });
    expect(await resultOf({ ...same, tags: {}, evaluators })).toMatchObject({ pass: true });
  });
});
