import { expect, test } from "bun:test";
import { nameEvaluators } from "./run-verdicts.tsx";

const of = (evaluator: string, profile_name: string) => ({
  evaluator,
  profile_name,
  profile_id: "i",
  profile_revision: 1,
});

test("names are as short as they can be without being mistaken", () => {
  expect(nameEvaluators([of("exact-match-2026-11-21", "system:default")])).toEqual(["exact-match"]);
  expect(
    nameEvaluators([
      of("exact-match-2026-11-21", "system:default"),
      of("exact-match-2026-11-21", "loose"),
      of("rouge-l-2026-11-21", "close"),
    ]),
  ).toEqual(["exact-match system:default", "exact-match loose", "rouge-l close"]);
  expect(nameEvaluators([of("a-2026-11-21", "p"), of("a-2026-12-01", "p")])).toEqual([
    "a-2026-11-21 p",
    "a-2026-12-01 p",
  ]);
});
