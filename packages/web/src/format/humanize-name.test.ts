import { expect, test } from "bun:test";
import { humanizeName } from "./humanize-name.ts";

test("a field name is humanised", () => {
  expect(humanizeName("ignore_case")).toBe("Ignore case");
  expect(humanizeName("evaluated_model_gold_answer")).toBe("Gold answer");
  expect(humanizeName("pii")).toBe("Pii");
});
