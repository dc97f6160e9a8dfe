import { expect, test } from "bun:test";
import { wordsOfName } from "./humanize-name.ts";

test("the name of a field is read as words", () => {
  expect(wordsOfName("ignore_case")).toBe("Ignore case");
  expect(wordsOfName("evaluated_model_gold_answer")).toBe("Gold answer");
  expect(wordsOfName("pii")).toBe("Pii");
});
