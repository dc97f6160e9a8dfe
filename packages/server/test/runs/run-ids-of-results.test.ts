import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const sample = { trajectory_id: "a", step: 0, interaction: { state: "s", action: "go" }, next_state: "s" };

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const runs = runClient(presage);
  const datasets = datasetClient(presage);

  async function createRun(): Promise<string> {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, [sample]);
    return (await runs.create({ dataset_id, target: { baseline: "no-change" } })).id;
  }

  function evaluate(evaluation_run_id: string, headers?: Record<string, string>) {
    const evaluators = [{ evaluator: "exact-match" }];
    const texts = { evaluated_model_output: "x", evaluated_model_gold_answer: "x" };
    return presage.call("POST", "/v1/evaluate", { evaluators, ...texts, evaluation_run_id }, headers);
  }

  function importResults(...ids: (string | undefined)[]) {
    const evaluation_results = ids.map((evaluation_run_id) => ({
      evaluator_id: "theirs",
      pass: true,
      evaluation_run_id,
    }));
    return presage.call("POST", "/v1/evaluation-results/batch", { evaluation_results });
  }

  async function countOf(evaluation_run_id: string): Promise<number> {
    const search = await presage.call("POST", "/v1/evaluation-results/search", { evaluation_run_id });
    return ((await search.json()) as { results: unknown[] }).results.length;
  }

  test("nobody adds results to a run whose results Presage makes, as long as it is there", async () => {
    const id = await createRun();
    await runs.end(id);
    const before = await countOf(id);
    const refused = await evaluate(id);
    expect([refused.status, await refused.json()]).toEqual([409, { detail: expect.stringContaining(id) }]);
    expect((await importResults("free", undefined, id)).status).toBe(409);
    expect([await countOf(id), await countOf("free")]).toEqual([before, 0]);
    expect((await presage.call("DELETE", `/v1/runs/${id}`)).status).toBe(204);
    expect((await evaluate(id)).status).toBe(200);
    expect((await importResults(id, undefined)).status).toBe(201);
    expect(await countOf(id)).toBe(before + 2);
  });

  test("any other text is a run of the client's own, and so is the id of another account's run", async () => {
    const id = await createRun();
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    for (const text of ["nightly", "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41", id.toUpperCase()]) {
      for (const _ of [1, 2]) expect((await evaluate(text)).status).toBe(200);
    }
    expect((await evaluate(id, stranger)).status).toBe(200);
    expect((await evaluate(id)).status).toBe(409);
  });
});
