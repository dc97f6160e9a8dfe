import { expect, test } from "bun:test";
import { explainFailure } from "./result-details.tsx";

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
