import { expect, test } from "bun:test";
import { nameEvaluator } from "./name-evaluator.ts";

const exact = { evaluator: "exact-match-2026-11-21", profile_name: "system:default", profile_revision: 1 };

test("An evaluator has its short name while that is unique", () => {
  const close = { ...exact, evaluator: "rouge-l-2026-11-21", profile_name: "close", profile_revision: 2 };
  expect(nameEvaluator(exact, [exact, close])).toBe("exact-match");
  expect(nameEvaluator(close, [exact, close])).toBe("rouge-l, close");
});

test("Revisions and versions are named where they differ", () => {
  const revised = { ...exact, profile_revision: 2 };
  expect(nameEvaluator(revised, [exact, revised])).toBe("exact-match, system:default, revision 2");
  const older = { ...exact, evaluator: "exact-match-2025-01-01" };
  expect(nameEvaluator(exact, [exact, older])).toBe("exact-match-2026-11-21, system:default, revision 1");
});
