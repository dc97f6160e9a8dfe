import { expect, test } from "bun:test";
import type { EnvironmentConfig } from "@presage/sdk";
import { newEnvironmentDraft, readEnvironmentDraft, toDraft } from "./read-environment-draft.ts";

test("a form that is not touched stands for the same environment", () => {
  const config: EnvironmentConfig = {
    description: "A kitchen",
    deployment: "small",
    prompt_form: "chat",
    max_steps: 20,
    stop: [
      { output_contains: "{goal}", outcome: "success" },
      { action_matches: "^quit", outcome: "failure" },
    ],
    guards: { repeat_limit: 5 },
    reward: { evaluator: "exact-match", profile_name: "a/b", when: "every-step" },
    params: { top_p: 0.5 },
    real: { name: "lab", share: 0.07, false_success_limit: 0.29, on_alarm: "refuse" },
    context: { domain_knowledge: "Rules", steering_directives: "Be short" },
  };
  expect(readEnvironmentDraft(toDraft("kitchen", config))).toEqual({ issues: {}, config });
});

test("what is empty is removed", () => {
  const { config } = readEnvironmentDraft({ ...newEnvironmentDraft, name: "kitchen", stop: "[]" });
  expect(config).toMatchObject({ stop: null, guards: null, reward: null, params: null, context: null });
});

test("what cannot be used is named at its field", () => {
  const { issues } = readEnvironmentDraft({
    ...newEnvironmentDraft,
    name: "-Kitchen",
    max_steps: "0",
    repeat_limit: "x",
    params: "{",
    stop: JSON.stringify([{ kind: "output_contains", text: "", outcome: "success" }]),
  });
  expect(Object.keys(issues).sort()).toEqual(["max_steps", "name", "params", "repeat_limit", "stop"]);
});
