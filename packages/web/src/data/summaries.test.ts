import { expect, test } from "bun:test";
import { searchOfRate } from "./summaries.ts";

test("a rate's results are those of its evaluator, profile and revision", () => {
  const key = {
    evaluator_id: "rouge-l-2026-11-21",
    profile_name: "close enough",
    evaluator_profile_public_id: "0190c1f4-0000-7000-8000-000000000000",
    evaluator_profile_revision: 2,
  };
  expect(searchOfRate(key)).toEqual({
    evaluator: "rouge-l-2026-11-21",
    profile_id: "0190c1f4-0000-7000-8000-000000000000",
    revision: 2,
  });
});

test("imported results have a profile's name at most", () => {
  const key = { evaluator_id: "external:strict", evaluator_profile_public_id: null };
  expect(searchOfRate({ ...key, profile_name: "words", evaluator_profile_revision: null })).toEqual({
    evaluator: "external:strict",
    profile: "words",
  });
  expect(searchOfRate({ ...key, profile_name: null })).toEqual({ evaluator: "external:strict" });
});
