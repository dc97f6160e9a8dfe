import { beforeAll, expect, test } from "bun:test";
import {
  EvaluatorCriteriaListResponse,
  EvaluatorCriteriaResponse,
  EvaluatorListResponse,
  type EvaluatorProfile,
} from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const path = "/v1/evaluator-criteria";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { post, resultOf } = evaluationClient(() => presage);
  let doors: EvaluatorProfile;

  async function write(method: string, where: string, body?: object): Promise<EvaluatorProfile> {
    const response = await presage.call(method, path + where, body);
    expect(response.status).toBe(201);
    return EvaluatorCriteriaResponse.parse(await response.json()).evaluator_criteria;
  }

  async function list(query: string): Promise<EvaluatorProfile[]> {
    const response = await presage.call("GET", path + query);
    expect(response.status).toBe(200);
    return EvaluatorCriteriaListResponse.parse(await response.json()).evaluator_criteria;
  }

  beforeAll(async () => {
    const body = { evaluator_family: "contains", name: "doors", config: { substrings: ["door"] } };
    doors = await write("POST", "", body);
    await write("POST", `/${doors.public_id}/revision`, { config: { substrings: ["gate"] } });
  });

  test("Criteria are profiles: created, revised and listed under either name", async () => {
    const revisions = await list("?name=doors");
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 1]);
    expect(await list("?name=doors&get_last_revision=true&revision=2")).toEqual(revisions.slice(0, 1));
    const profiles = await presage.call("GET", "/v1/evaluator-profiles?name=doors");
    expect(await profiles.json()).toEqual({ evaluator_profiles: revisions });
  });

  test("Their agreement with people is that of the profile", async () => {
    const agreementUnder = (name: string) => presage.call("GET", `${name}/${doors.public_id}/agreement`);
    const agreement = await agreementUnder(path);
    expect(agreement.status).toBe(200);
    expect(await agreement.json()).toEqual(await (await agreementUnder("/v1/evaluator-profiles")).json());
  });

  test("They are archived without a body, and all revisions are returned", async () => {
    const body = { evaluator_family: "contains", name: "gone", config: { substrings: ["x"] } };
    const { public_id } = await write("POST", "", body);
    const response = await presage.call("PATCH", `${path}/${public_id}/archive`);
    const { evaluator_criteria } = EvaluatorCriteriaListResponse.parse(await response.json());
    expect(evaluator_criteria).toMatchObject([{ public_id, archived_at: expect.any(String) }]);
  });

  test.each([
    ["doors", 2, false],
    ["doors:2", 2, false],
    ["doors:1", 1, true],
  ])("Criteria %s are revision %d of the profile", async (criteria, revision, pass) => {
    for (const field of ["criteria", "profile_name"]) {
      const evaluators = [{ evaluator: "contains", [field]: criteria }];
      expect(await resultOf({ evaluators, evaluated_model_output: "a door" })).toMatchObject({
        criteria: "doors",
        profile_name: "doors",
        evaluator_profile_revision: revision,
        pass,
      });
    }
  });

  test("A built-in profile may be named with its revision", async () => {
    const evaluators = [{ evaluator: "exact-match", criteria: "system:default:1" }];
    const sample = { evaluated_model_output: "x", evaluated_model_gold_answer: "x" };
    expect((await resultOf({ evaluators, ...sample })).criteria).toBe("system:default");
  });

  test("A profile whose own name ends like a revision comes before a revision", async () => {
    const body = { evaluator_family: "contains", name: "doors:1", config: { substrings: ["wall"] } };
    const own = await write("POST", "", body);
    const evaluators = [{ evaluator: "contains", criteria: "doors:1" }];
    const result = await resultOf({ evaluators, evaluated_model_output: "a door" });
    expect([result.evaluator_profile_public_id, result.pass]).toEqual([own.public_id, false]);
  });

  test.each([
    "doors:3",
    "doors:0",
    "doors:99999999999999999999",
    "doors:",
    ":1",
    "system:default:2",
    "gone:1",
  ])("Criteria %p do not exist, and nothing is run", async (criteria) => {
    const evaluators = [{ evaluator: "contains", criteria }];
    const issues = await issuesOf(await post({ evaluators, evaluated_model_output: "a door" }));
    expect(locationsOf(issues)).toEqual([
      { type: "value_error", loc: ["body", "evaluators", 0, "criteria"] },
    ]);
  });

  test("An evaluator is found by id or alias, with the criteria that it uses by default", async () => {
    const find = async (wanted: string) => {
      const response = await presage.call("GET", `/v1/evaluators?by_alias_or_id=${wanted}`);
      const { evaluators } = EvaluatorListResponse.parse(await response.json());
      return evaluators.map(({ id, default_criteria }) => [id, default_criteria]);
    };
    const exactMatch = [["exact-match-2026-11-21", "system:default"]];
    expect(await find("exact-match")).toEqual(exactMatch);
    expect(await find("exact-match-2026-11-21")).toEqual(exactMatch);
    expect(await find("judge")).toEqual([[expect.stringMatching(/^judge-/), null]]);
    expect(await find("nothing")).toEqual([]);
  });

  test("Newer clients' names of the texts are accepted, and nothing about them is deprecated", async () => {
    const texts = { task_input: "in", task_output: "out", gold_answer: "out", task_context: "one" };
    const response = await post({ evaluators: [{ evaluator: "exact-match" }], ...texts });
    expect([response.status, response.headers.get("deprecation")]).toEqual([200, null]);
    const current = {
      evaluated_model_input: "in",
      evaluated_model_output: "out",
      evaluated_model_gold_answer: "out",
      evaluated_model_retrieved_context: ["one"],
    };
    expect(await response.json()).toMatchObject({ results: [{ evaluation_result: current }] });
    const row = { evaluator_id: "theirs", pass: true, ...texts, evaluated_model_input: "comes first" };
    const batch = await presage.call("POST", "/v1/evaluation-results/batch", { evaluation_results: [row] });
    const { evaluation_results } = (await batch.json()) as { evaluation_results: { id: string }[] };
    const found = await presage.call("GET", `/v1/evaluation-results/${evaluation_results[0]?.id}`);
    expect(await found.json()).toMatchObject({
      evaluation_result: { ...current, evaluated_model_input: "comes first" },
    });
  });
});
