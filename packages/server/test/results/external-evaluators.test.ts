import { beforeAll, expect, test } from "bun:test";
import { EvaluationResultBatchResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

/** An evaluator of Presage, whose name another tool may have used too. */
const own = "exact-match-2026-11-21";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { evaluate } = evaluationClient(() => presage);
  const { post, search, importAll, summary } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await evaluate({
      evaluators: [{ evaluator: own }],
      evaluated_model_output: "x",
      evaluated_model_gold_answer: "x",
    });
    await importAll([
      { evaluator_id: own, pass: false },
      { evaluator_id: "theirs", pass: true },
    ]);
  });

  test("An imported result names its evaluator after external:, wherever it is shown", async () => {
    const batch = await post("/batch", { evaluation_results: [{ evaluator_id: "shown", pass: true }] });
    const { evaluation_results } = EvaluationResultBatchResponse.parse(await batch.json());
    expect(evaluation_results[0]?.evaluator_id).toBe("external:shown");
    expect(await search({ limit: 1 })).toMatchObject([{ evaluator_id: "external:shown", external: true }]);
    const { groups } = await summary({ evaluator_id: "shown", group_by: ["evaluator"] });
    expect(groups.map(({ key }) => key.evaluator_id)).toEqual(["external:shown"]);
    const exported = await presage.call("GET", "/v1/evaluation-results/export?format=csv&evaluator_id=shown");
    expect(await exported.text()).toContain("external:shown");
  });

  test("Either name finds it, and with external: Presage's own evaluator of that name is left out", async () => {
    const idsOf = async (evaluator_id: string) =>
      (await search({ evaluator_id })).map((result) => result.evaluator_id);
    expect(await idsOf("theirs")).toEqual(["external:theirs"]);
    expect(await idsOf("external:theirs")).toEqual(["external:theirs"]);
    expect(await idsOf(`external:${own}`)).toEqual([`external:${own}`]);
    expect(await idsOf("external:exact-match")).toEqual([]);
    const ofOne = { evaluator_id: `external:${own}` };
    for (const [more, source] of [
      [{}, "rollups"],
      [{ after_id: 0 }, "results"],
    ] as const) {
      const { groups, ...rest } = await summary({ ...ofOne, ...more, group_by: ["evaluator"] });
      expect(rest.source).toBe(source);
      expect(groups).toMatchObject([{ count: 1, passed: 0, key: ofOne }]);
    }
  });

  test("A result that was exported and is imported again has the same name", async () => {
    await importAll([{ evaluator_id: "external:again", pass: true }]);
    expect(await search({ evaluator_id: "again" })).toMatchObject([{ evaluator_id: "external:again" }]);
  });
});
