import { expect, test } from "bun:test";
import { EvaluatorFamilyListResponse, EvaluatorListResponse } from "@presage/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });

async function listEvaluators() {
  return EvaluatorListResponse.parse(await (await presage.call("GET", "/v1/evaluators")).json()).evaluators;
}

async function listFamilies() {
  const response = await presage.call("GET", "/v1/evaluator-families");
  return EvaluatorFamilyListResponse.parse(await response.json()).evaluator_families;
}

test("Every evaluator is listed by its id, with its aliases", async () => {
  const evaluators = await listEvaluators();
  const ids = evaluators.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(evaluators).toContainEqual({
    id: "exact-match-2026-11-21",
    name: "exact-match-2026-11-21",
    evaluator_family: "exact-match",
    aliases: ["exact-match"],
    description: "The output equals the gold answer.",
    profile_required: false,
    default_criteria: "system:default",
    evaluation_enabled: true,
    evaluation_run_enabled: true,
  });
});

test("Each family's name is the alias of exactly one evaluator, its newest", async () => {
  const evaluators = await listEvaluators();
  for (const { family_name } of await listFamilies()) {
    const ofFamily = evaluators.filter(({ evaluator_family }) => evaluator_family === family_name);
    const aliased = ofFamily.filter(({ aliases }) => aliases.includes(family_name));
    expect(aliased.map(({ id }) => id)).toEqual([ofFamily.at(-1)?.id ?? ""]);
  }
});

test("A profile is required if the family has no system:default profile", async () => {
  const list = await presage.call(
    "GET",
    "/v1/evaluator-profiles?name=system:default&is_managed=true&limit=1000",
  );
  const { evaluator_profiles } = (await list.json()) as {
    evaluator_profiles: { evaluator_family: string }[];
  };
  const withDefault = new Set(evaluator_profiles.map(({ evaluator_family }) => evaluator_family));
  for (const { evaluator_family, profile_required } of await listEvaluators()) {
    expect([evaluator_family, profile_required]).toEqual([
      evaluator_family,
      !withDefault.has(evaluator_family),
    ]);
  }
});

test("A family says which texts it reads", async () => {
  const families = await listFamilies();
  expect(families.find(({ family_name }) => family_name === "exact-match")).toMatchObject({
    description: "The output equals the gold answer.",
    required_input_fields: ["evaluated_model_output", "evaluated_model_gold_answer"],
    optional_input_fields: [],
  });
});

test("A family says whether it calls a model", async () => {
  const families = await listFamilies();
  const names = families.filter(({ uses_model }) => uses_model).map(({ family_name }) => family_name);
  expect(names.sort()).toEqual(["error-taxonomy", "judge"]);
  // This server has a model.
  expect(families.filter(({ needs_model }) => needs_model)).toEqual([]);
});

test("A family's schema is JSON Schema, accepts omitted fields and rejects unknown ones", async () => {
  const families = await listFamilies();
  const schema = families.find(({ family_name }) => family_name === "exact-match")?.profile_config_schema;
  const accepts = new Ajv2020().compile(schema ?? {});
  expect([{}, { trim: false }, { trim: "no" }, { trims: true }].map((config) => accepts(config))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("Every built-in profile is valid by the schema of its family, and can be created as one's own", async () => {
  const families = new Map((await listFamilies()).map((family) => [family.family_name, family]));
  const list = await presage.call("GET", "/v1/evaluator-profiles?is_managed=true&limit=1000");
  const { evaluator_profiles } = (await list.json()) as {
    evaluator_profiles: { evaluator_family: string; name: string; config: object }[];
  };
  expect(evaluator_profiles.length).toBeGreaterThan(0);
  const checks = new Map<string, (config: object) => unknown>();
  for (const { evaluator_family, name, config } of evaluator_profiles) {
    const schema = families.get(evaluator_family)?.profile_config_schema ?? {};
    const accepts =
      checks.get(evaluator_family) ?? new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    checks.set(evaluator_family, accepts);
    expect([evaluator_family, name, accepts(config)]).toEqual([evaluator_family, name, true]);
    const body = { evaluator_family, name: name.replace("system:", "my "), config };
    const made = await presage.call("POST", "/v1/evaluator-profiles", body);
    expect([evaluator_family, name, made.status]).toEqual([evaluator_family, name, 201]);
  }
});
