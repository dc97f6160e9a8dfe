import { expect, test } from "bun:test";
import {
  describeCapture,
  humanizeName,
  shortEvaluatorName,
  shortEvaluatorNames,
  splitVersion,
} from "./words.ts";

test("a field name is humanised", () => {
  expect(humanizeName("ignore_case")).toBe("Ignore case");
  expect(humanizeName("evaluated_model_gold_answer")).toBe("Gold answer");
  expect(humanizeName("pii")).toBe("Pii");
});

test("An evaluator's date is shown only where two versions are in use", () => {
  const name = shortEvaluatorNames(["judge-2026-11-21", "contains-2026-01-01", "contains-2026-11-21"]);
  expect(name("judge-2026-11-21")).toBe("judge");
  expect(name("contains-2026-11-21")).toBe("contains-2026-11-21");
  expect(name("external:theirs-")).toBe("external:theirs-");
  // A version other than the one in use is named in full.
  expect(name("judge-2025-01-01")).toBe("judge-2025-01-01");
});

test("A built-in profile is named without what tells it from others", () => {
  const name = (profile_name: string | null) =>
    shortEvaluatorName({ evaluator: "judge-2026-11-21", profile_name });
  expect([null, "system:default", "system:is-concise", "mine"].map(name)).toEqual([
    "judge",
    "judge",
    "judge, is-concise",
    "judge, mine",
  ]);
});

test("a version is the date at the end of an evaluator's id", () => {
  expect(splitVersion("exact-match-2026-11-21")).toEqual({ family: "exact-match-", version: "2026-11-21" });
  expect(splitVersion("external:theirs")).toEqual({ family: "external:theirs", version: "" });
});

test.each([
  ["off", "none"],
  ["0", "none"],
  ["failures", "those that fail"],
  ["all", "all"],
  ["1", "all"],
  ["0.01", "1 in 100"],
  ["0.0001", "1 in 10,000"],
  ["0.3", "30\u00a0%"],
])("%s is described as “%s”", (setting, words) => {
  expect(describeCapture(setting)).toBe(words);
});
