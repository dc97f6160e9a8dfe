import { beforeAll, expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const strategies = ["never", "on-fail", "on-success", "always"];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { evaluate } = evaluationClient(() => presage);
  const { search, searchAll, importAll, correct, summary } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    for (const explain_strategy of strategies) {
      for (const evaluated_model_output of ["right", "wrong"]) {
        const evaluators = [{ evaluator: "exact-match", explain_strategy }];
        await evaluate({ evaluators, evaluated_model_output, evaluated_model_gold_answer: "right" });
      }
    }
    const evaluator = { evaluator_id: "theirs", pass: true };
    await importAll([{ ...evaluator, explanation: "so" }, evaluator, { evaluator_id: "theirs" }]);
    // The correction changes the verdict that counts, not the explanation.
    const [explained] = await search({ explain_strategy: "on-fail", pass: false });
    await correct(explained?.id ?? "", { pass: true });
    // Without a verdict.
    await evaluate({ evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "x" });
  });

  test("A search finds exactly the results that have an explanation, or those that have none", async () => {
    const all = await search({ limit: 1000 });
    for (const explain of [true, false]) {
      const expected = all
        .filter(({ explanation }) => (explanation !== null) === explain)
        .map(({ id }) => id);
      expect(expected.length).toBeGreaterThan(3);
      expect((await search({ explain })).map(({ id }) => id)).toEqual(expected);
      expect(await searchAll({ explain }, 2)).toEqual(expected.map(Number));
      expect(await searchAll({ explain, order: "created_at" }, 2)).toEqual(expected.map(Number).reverse());
      expect(await summary({ explain, status: "success" })).toMatchObject({
        groups: [{ count: expected.length }],
      });
      const exported = await presage.call("GET", `/v1/evaluation-results/export?explain=${explain}`);
      expect((await exported.text()).trim().split("\n")).toHaveLength(expected.length);
    }
  });

  test("It is checked together with other filters", async () => {
    expect(await search({ explain: true, evaluator_id: "theirs" })).toMatchObject([{ explanation: "so" }]);
    expect(await search({ explain: true, status: "validation_error" })).toEqual([]);
    expect(await search({ explain: false, status: "validation_error" })).toHaveLength(1);
  });
});
