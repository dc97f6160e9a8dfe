import { expect, test } from "bun:test";
import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { nameEvaluator } from "./evaluator-names.ts";
import { evaluatorChoices } from "./evaluators.tsx";

function family(family_name: string, ...needs: string[]): EvaluatorFamily {
  return {
    family_name,
    description: `What ${family_name} does.`,
    required_input_fields: ["evaluated_model_output", ...needs],
    optional_input_fields: [],
    uses_model: family_name === "judge",
    needs_model: false,
    profile_config_schema: {},
  };
}

function profile(evaluator_family: string, name: string, config = {}): EvaluatorProfile {
  return {
    public_id: `${evaluator_family}/${name}`,
    evaluator_family,
    name,
    revision: 1,
    config,
    description: null,
    is_managed: false,
    created_at: "2026-11-21T00:00:00Z",
    archived_at: null,
    evaluator_id: evaluator_family,
    is_patronus_managed: false,
  };
}

const families = [family("exact-match", "evaluated_model_gold_answer"), family("judge"), family("unused")];

test("profiles are grouped by family, and families without profiles are left out", () => {
  const profiles = [profile("judge", "b"), profile("exact-match", "system:default"), profile("judge", "a")];
  const choices = evaluatorChoices(families, profiles, { hasSystemTurn: true });
  expect(choices.map(({ family, choices }) => [family, choices.map(({ profile }) => profile)])).toEqual([
    ["exact-match", ["system:default"]],
    ["judge", ["b", "a"]],
  ]);
});

test("a family that uses a model says so", () => {
  const profiles = [profile("exact-match", "system:default"), profile("judge", "is-concise")];
  const choices = evaluatorChoices(families, profiles, { hasSystemTurn: true });
  expect(choices.map(({ family, usesModel }) => [family, usesModel])).toEqual([
    ["exact-match", false],
    ["judge", true],
  ]);
});

test("some families need a gold answer, and some profiles of others", () => {
  const profiles = [
    profile("exact-match", "system:default"),
    profile("judge", "is-concise"),
    profile("judge", "matches-gold", { required_fields: ["evaluated_model_gold_answer"] }),
  ];
  const choices = evaluatorChoices(families, profiles, { hasSystemTurn: true }).flatMap(
    ({ choices }) => choices,
  );
  expect(choices.map(({ profile, needsGoldAnswer }) => [profile, needsGoldAnswer])).toEqual([
    ["system:default", true],
    ["is-concise", false],
    ["matches-gold", true],
  ]);
});

test("a profile that needs a missing text says so", () => {
  const profiles = [
    profile("judge", "grounded", { required_fields: ["evaluated_model_retrieved_context"] }),
    profile("judge", "in-role", { required_fields: ["evaluated_model_system_prompt"] }),
  ];
  const obstacles = (hasSystemTurn: boolean) =>
    evaluatorChoices(families, profiles, { hasSystemTurn }).flatMap(({ choices }) =>
      choices.map(({ obstacle }) => obstacle),
    );
  expect(obstacles(true)).toEqual(["needs retrieved context", undefined]);
  expect(obstacles(false)[1]).toBe("needs a system turn");
});

test("without a model, a family that uses one cannot be chosen", () => {
  const judge = { ...family("judge"), needs_model: true };
  const [group] = evaluatorChoices([judge], [profile("judge", "is-concise")], { hasSystemTurn: true });
  expect(group).toMatchObject({ needsModel: true, choices: [{ obstacle: "needs a model" }] });
});

const exact = { evaluator: "exact-match-2026-11-21", profile_name: "system:default", profile_revision: 1 };

test("An evaluator has its short name while that is unique", () => {
  const close = { ...exact, evaluator: "rouge-l-2026-11-21", profile_name: "close", profile_revision: 2 };
  expect(nameEvaluator(exact, [exact, close])).toBe("exact-match");
  expect(nameEvaluator(close, [exact, close])).toBe("rouge-l, close");
});

test("Revisions and versions are named where they differ", () => {
  const revised = { ...exact, profile_revision: 2 };
  expect(nameEvaluator(revised, [exact, revised])).toBe("exact-match, default, revision 2");
  const older = { ...exact, evaluator: "exact-match-2025-01-01" };
  expect(nameEvaluator(exact, [exact, older])).toBe("exact-match-2026-11-21, default, revision 1");
});
