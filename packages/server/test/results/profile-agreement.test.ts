import { beforeAll, expect, test } from "bun:test";
import { AgreementResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { evaluatorProfileClient, nowhere, path } from "../support/resources/evaluator-profiles.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const nothingSaid = { corrected: 0, agreed: 0, should_fail: 0, should_pass: 0 };

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let stranger: Record<string, string>;
  const { correct } = evaluationResultsClient(() => presage);
  const { resultOf } = evaluationClient(() => presage);
  const { create, revise, archive } = evaluatorProfileClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  async function agreement(publicId: string, headers?: Record<string, string>): Promise<AgreementResponse> {
    const response = await presage.call("GET", `${path}/${publicId}/agreement`, undefined, headers);
    expect(response.status).toBe(200);
    return AgreementResponse.parse(await response.json());
  }

  /** A result of a `contains` profile that looks for a door. */
  const evaluate = (profileName: string, output: string) =>
    resultOf({
      evaluators: [{ evaluator: "contains", profile_name: profileName }],
      evaluated_model_output: output,
    });

  test("Every revision has its own figures, newest first, and each result counts with its latest correction", async () => {
    const config = { substrings: ["door"] };
    const profile = await create({ evaluator_family: "contains", name: "doors", config });
    const [passed, alsoPassed, failed, confirmed] = [
      await evaluate("doors", "a door"),
      await evaluate("doors", "door"),
      await evaluate("doors", "a gate"),
      await evaluate("doors", "a wall"),
    ];
    await evaluate("doors", "never looked at");
    await correct(passed.id ?? "", { pass: true });
    await correct(passed.id ?? "", { pass: false });
    await correct(alsoPassed.id ?? "", { pass: false });
    await correct(alsoPassed.id ?? "", { pass: true });
    await correct(failed.id ?? "", { pass: true });
    await correct(confirmed.id ?? "", { pass: false });
    await revise(profile, { config });
    const later = await evaluate("doors", "door");
    await correct(later.id ?? "", { pass: true });
    await revise(profile, { config });

    const { public_id, revisions } = await agreement(profile.public_id.toUpperCase());
    expect(public_id).toBe(profile.public_id);
    expect(revisions).toMatchObject([
      { revision: 3, ...nothingSaid, agreement: null, agreement_interval: null },
      { revision: 2, corrected: 1, agreed: 1, should_fail: 0, should_pass: 0, agreement: 1 },
      { revision: 1, corrected: 4, agreed: 2, should_fail: 1, should_pass: 1, agreement: 0.5 },
    ]);
    // By Wilson's formula for 2 of 4.
    const interval = revisions[2]?.agreement_interval;
    expect(interval?.level).toBe(0.95);
    expect(interval?.lower).toBeCloseTo(0.15, 2);
    expect(interval?.upper).toBeCloseTo(0.85, 2);

    await archive(profile);
    expect((await agreement(profile.public_id)).revisions).toEqual(revisions);
  });

  test("Corrections of results of one trajectory are one cluster", async () => {
    await create({ evaluator_family: "contains", name: "steps", config: { substrings: ["door"] } });
    const evaluateStep = (trajectory_id?: string) =>
      resultOf({
        evaluators: [{ evaluator: "contains", profile_name: "steps" }],
        evaluated_model_output: "a door",
        ...(trajectory_id === undefined ? {} : { tags: { trajectory_id } }),
      });
    const trajectories = ["a", "a", "a", "b", "b", undefined, undefined];
    let publicId = "";
    for (const [index, trajectory] of trajectories.entries()) {
      const result = await evaluateStep(trajectory);
      publicId = result.evaluator_profile_public_id ?? "";
      await correct(result.id ?? "", { pass: trajectory === "a" || index === 5 });
    }
    const [revision] = (await agreement(publicId)).revisions;
    expect(revision).toMatchObject({ corrected: 7, agreed: 4, interval_method: "clustered", clusters: 4 });
    // From statsmodels and scipy for clusters of 3, 2, 1 and 1; independent results would give 0.25 to 0.84.
    expect(revision?.agreement_interval?.lower).toBeCloseTo(0.0509482056541739, 7);
    expect(revision?.agreement_interval?.upper).toBeCloseTo(0.9706882807889592, 7);
  });

  test("A built-in profile is measured by the caller's own corrections only", async () => {
    const body = {
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: "a",
      evaluated_model_gold_answer: "a",
    };
    const result = await resultOf(body);
    const publicId = result.evaluator_profile_public_id ?? "";
    await correct(result.id ?? "", { pass: false });
    const theirs = await presage.call("POST", "/v1/evaluate", body, stranger);
    const { results } = (await theirs.json()) as { results: { evaluation_result: { id: string } }[] };
    const theirId = results[0]?.evaluation_result.id;
    const said = await presage.call("POST", `${resultsPath}/${theirId}/correction`, { pass: true }, stranger);
    expect(said.status).toBe(201);

    expect((await agreement(publicId)).revisions).toMatchObject([
      { revision: 1, corrected: 1, agreed: 0, should_fail: 1, should_pass: 0, agreement: 0 },
    ]);
    expect((await agreement(publicId, stranger)).revisions).toMatchObject([
      { revision: 1, corrected: 1, agreed: 1, should_fail: 0, should_pass: 0, agreement: 1 },
    ]);
  });

  test("An unknown profile is 404, and an invalid id is rejected", async () => {
    expect((await presage.call("GET", `${path}/${nowhere}/agreement`)).status).toBe(404);
    const own = await create({ name: "mine alone" });
    const theirs = await presage.call("GET", `${path}/${own.public_id}/agreement`, undefined, stranger);
    expect(theirs.status).toBe(404);
    const issues = await issuesOf(await presage.call("GET", `${path}/doors/agreement`));
    expect(locationsOf(issues)).toEqual([{ type: "uuid_parsing", loc: ["path", "public_id"] }]);
  });
});
