import { expect, test } from "bun:test";
import { shortEvaluatorNames } from "./short-evaluator-names.ts";

test("An evaluator's date is shown only where two versions are in use", () => {
  const name = shortEvaluatorNames(["judge-2026-11-21", "contains-2026-01-01", "contains-2026-11-21"]);
  expect(name("judge-2026-11-21")).toBe("judge");
  expect(name("contains-2026-11-21")).toBe("contains-2026-11-21");
  expect(name("external:theirs-")).toBe("external:theirs-");
  // Another version than the one in use is named in full.
  expect(name("judge-2025-01-01")).toBe("judge-2025-01-01");
});
