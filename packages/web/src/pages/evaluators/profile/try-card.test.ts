import { expect, test } from "bun:test";
import type { EvaluatorFamily } from "@presage/sdk";
import { readContexts, sampleFields, toSample, writeContexts } from "./try-card.tsx";

const judge: EvaluatorFamily = {
  family_name: "judge",
  description: "A model decides.",
  required_input_fields: ["evaluated_model_output"],
  optional_input_fields: ["evaluated_model_input", "evaluated_model_retrieved_context"],
  uses_model: false,
  needs_model: false,
  profile_config_schema: {},
};

test("fields that the profile requires are needed too", () => {
  expect(sampleFields(judge, { required_fields: ["evaluated_model_input"] })).toEqual({
    needed: ["evaluated_model_input", "evaluated_model_output"],
    taken: ["evaluated_model_retrieved_context"],
  });
});

test("an empty text is sent if it is required, and left out otherwise", () => {
  const draft = {
    evaluated_model_system_prompt: "left over from another family",
    evaluated_model_retrieved_context: writeContexts(["a passage"]),
    evaluated_model_input: "",
    evaluated_model_output: "",
    evaluated_model_gold_answer: "",
  };
  const { needed, taken } = sampleFields(judge, {});
  expect(toSample(draft, needed, taken)).toEqual({
    evaluated_model_output: "",
    evaluated_model_retrieved_context: ["a passage"],
  });
});

test("passages round-trip through the draft", () => {
  expect(readContexts(writeContexts(["one", "", "two\nlines"]))).toEqual(["one", "", "two\nlines"]);
  expect(readContexts(writeContexts([]))).toEqual([]);
});
