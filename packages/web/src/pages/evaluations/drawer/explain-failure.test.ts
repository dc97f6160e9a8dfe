import { expect, test } from "bun:test";
import { explainFailure } from "./explain-failure.ts";

test("a code and its sentence come apart, and the advice is the code’s own", () => {
  const failure = explainFailure("needs_model: There is no model: none is set.\nSecond line.");
  expect(failure.code).toBe("needs_model");
  expect(failure.message).toBe("There is no model: none is set.\nSecond line.");
  expect(failure.advice).toContain("start Presage again");
});

test("a message of another form is shown whole, and there is always something to do", () => {
  expect(explainFailure("Broken: badly")).toMatchObject({ code: "unknown", message: "Broken: badly" });
  expect(explainFailure(null).advice).not.toBe("");
  expect(explainFailure("brand_new_code: So.").advice).not.toBe("");
});
