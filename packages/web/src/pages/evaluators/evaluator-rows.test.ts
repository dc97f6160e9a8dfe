import { expect, test } from "bun:test";
import type { EvaluationSummaryGroup, EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { toEvaluatorRows, withoutUnused } from "./evaluator-rows.ts";

const family = (family_name: string) =>
  ({
    family_name,
    description: `Is about ${family_name}.`,
    uses_model: family_name === "judge",
    required_input_fields: [],
  }) as unknown as EvaluatorFamily;

const profile = (public_id: string, evaluator_family: string, is_managed = false) =>
  ({
    public_id,
    name: `${public_id} profile`,
    evaluator_family,
    description: null,
    is_managed,
  }) as EvaluatorProfile;

const group = (evaluator_id: string, profileId: string | null, revision: number | null, passed: number) =>
  ({
    key: {
      evaluator_id,
      evaluator_profile_public_id: profileId,
      evaluator_profile_revision: revision,
      profile_name: profileId,
    },
    count: passed + 2,
    passed,
    not_passed: 1,
    failed: 1,
  }) as EvaluationSummaryGroup;

const families = [family("judge"), family("contains")];
const profiles = [
  profile("built-in", "contains", true),
  profile("unused", "judge"),
  profile("used", "contains"),
];

test("Purposes are together, the most used first, then the account's own; two versions in use have their dates", () => {
  const groups = [
    group("contains-2026-01-01", "used", 1, 10),
    group("contains-2026-01-01", "used", 2, 20),
    group("contains-2026-11-21", "used", 2, 30),
    group("external:theirs", null, null, 5),
  ];
  const rows = toEvaluatorRows({ families, profiles, used: groups, words: "" });
  expect(rows.map(({ name, profileName, uses }) => [name, profileName, uses])).toEqual([
    ["judge", "unused profile", 0],
    ["contains-2026-01-01", "used profile", 34],
    ["contains-2026-11-21", "used profile", 32],
    ["contains", "built-in profile", 0],
    ["external:theirs", null, 7],
  ]);
  // The account's own profile is never hidden.
  const shown = withoutUnused(rows).map(({ profileName }) => profileName);
  expect(shown).toEqual(["unused profile", "used profile", "used profile", null]);
  const fresh = toEvaluatorRows({ families, profiles, used: [], words: "" });
  expect(withoutUnused(fresh)).toEqual(fresh);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

test("Words are found in names and descriptions", () => {
  const found = (words: string) =>
    toEvaluatorRows({ families, profiles, used: undefined, words }).map(({ profileName }) => profileName);
  expect(found("  ABOUT judge ")).toEqual(["unused profile"]);
  expect(found("contains built")).toEqual(["built-in profile"]);
  expect(found("nothing")).toEqual([]);
});
