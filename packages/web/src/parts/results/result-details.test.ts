import { expect, test } from "bun:test";
import { defaultScore } from "../correction-card.tsx";
import { explainFailure } from "./result-details.tsx";

test("a confirmed verdict keeps the evaluator's score", () => {
  const result = { pass: false, score_raw: 0.4 };
  expect([defaultScore(result, false), defaultScore(result, true)]).toEqual([0.4, 1]);
  expect(defaultScore({ pass: true, score_raw: null }, false)).toBeNull();
});

test("a message is split into code and sentence, with advice for the code", () => {
  const failure = explainFailure("needs_model: There is no model: none is set.\nSecond line.");
  expect(failure.code).toBe("needs_model");
  expect(failure.message).toBe("There is no model: none is set.\nSecond line.");
  expect(failure.advice).toContain("restart Presage");
});

test("a message in another format is shown in full, and there is always advice", () => {
  expect(explainFailure("Broken: badly")).toMatchObject({ code: "unknown", message: "Broken: badly" });
  expect(explainFailure(null).advice).not.toBe("");
  expect(explainFailure("brand_new_code: So.").advice).not.toBe("");
});
