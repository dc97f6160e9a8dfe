import { expect, test } from "bun:test";
import { readDraft } from "../../playground/input/read-draft.ts";
import { toPlaygroundDraft } from "./to-playground-draft.ts";

const asked = {
  context: { environment_state: "A kitchen.", task_context: null },
  interaction: { state: "The fridge is closed.", action: "open fridge" },
  params: { temperature: 0, seed: 7, stop: ["\n"] },
};

test("The playground asks the same again", () => {
  const draft = toPlaygroundDraft(asked);
  expect(draft && readDraft(draft)).toEqual({
    request: {
      context: { environment_state: "A kitchen." },
      interaction: asked.interaction,
      params: { temperature: 0, seed: 7, stop: ["\n"] },
    },
    issues: {},
  });
});

test("A chat has no fields in the playground", () => {
  expect(toPlaygroundDraft({ ...asked, interaction: null })).toBeUndefined();
});
