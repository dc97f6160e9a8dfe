import { expect, test } from "bun:test";
import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { findFamilies } from "./find-families.ts";

function family(family_name: string, description: string): EvaluatorFamily {
  return {
    family_name,
    description,
    required_input_fields: [],
    optional_input_fields: [],
    uses_model: false,
    needs_model: false,
    profile_config_schema: {},
  };
}

function profile(evaluator_family: string, name: string, is_managed = false): EvaluatorProfile {
  return {
    public_id: name,
    evaluator_family,
    name,
    revision: 1,
    config: {},
    description: null,
    is_managed,
    created_at: "2026-11-21T00:00:00Z",
    archived_at: null,
    evaluator_id: evaluator_family,
    is_patronus_managed: is_managed,
  };
}

const families = [family("judge", "A model decides."), family("regex", "The output matches a pattern.")];
const profiles = [
  profile("judge", "system:is-helpful", true),
  profile("judge", "polite"),
  profile("regex", "no-urls"),
];

function found(words: string) {
  return findFamilies(families, profiles, words).map(({ family, profiles }) => [
    family.family_name,
    ...profiles.map(({ name }) => name),
  ]);
}

test("without words every family is listed, with the account's own profiles first", () => {
  expect(found("")).toEqual([
    ["judge", "polite", "system:is-helpful"],
    ["regex", "no-urls"],
  ]);
});

test("a matching family is listed with all its profiles", () => {
  expect(found("Model")).toEqual([["judge", "polite", "system:is-helpful"]]);
});

test("a matching profile is listed without the others of its family", () => {
  expect(found("judge polite")).toEqual([["judge", "polite"]]);
  expect(found("urls")).toEqual([["regex", "no-urls"]]);
});

test("words without a match find nothing", () => {
  expect(found("no such thing")).toEqual([]);
});
