import { expect, test } from "bun:test";
import {
  type Draft,
  emptyDraft,
  isEmptyDraft,
  parseDraft,
  readDraft,
  toPlaygroundDraft,
} from "./playground-draft.ts";

test("a draft is restored as it was typed", () => {
  const draft = {
    ...emptyDraft,
    context: { ...emptyDraft.context, tool_schemas: "  [\n" },
    state: "You’re in “the hall”.\n",
    params: { ...emptyDraft.params, temperature: "0,", further: '{"seed": ' },
  };
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft);
});

test.each([null, "", "{", "null", "[]", '"text"', '{"context":null,"params":7,"state":{}}'])(
  "a corrupt draft (%s) is read as far as possible",
  (stored) => {
    expect(parseDraft(stored)).toEqual(emptyDraft);
  },
);

test("a draft is empty until something is typed", () => {
  expect(isEmptyDraft(emptyDraft)).toBe(true);
  expect(isEmptyDraft({ ...emptyDraft, params: { ...emptyDraft.params, top_k: "1" } })).toBe(false);
  expect(isEmptyDraft({ ...emptyDraft, goldAnswer: " " })).toBe(false);
});

const step: Draft = { ...emptyDraft, state: "You are in the hall.", action: "look" };

function withParams(params: Partial<Draft["params"]>): Draft {
  return { ...step, params: { ...emptyDraft.params, ...params } };
}

test("empty fields are not in the request", () => {
  expect(readDraft(step)).toEqual({
    request: { interaction: { state: "You are in the hall.", action: "look" } },
    issues: {},
  });
});

test("texts are sent unchanged, including whitespace", () => {
  const draft = { ...step, context: { ...emptyDraft.context, task_context: " \n" }, action: " look\t" };
  expect(readDraft(draft).request).toEqual({
    context: { task_context: " \n" },
    interaction: { state: "You are in the hall.", action: " look\t" },
  });
});

test("state and action are both required", () => {
  expect(Object.keys(readDraft(emptyDraft).issues)).toEqual(["interaction.state", "interaction.action"]);
});

test("parameters become numbers, switches and further fields", () => {
  const draft = withParams({
    max_tokens: " 64 ",
    temperature: "0",
    top_p: ".5",
    top_k: "40",
    enable_thinking: "false",
    reasoning_budget: "low",
    further: '{"seed": 7, "stop": ["\\n"]}',
  });
  expect(readDraft(draft)).toEqual({
    request: {
      interaction: { state: step.state, action: step.action },
      params: {
        max_tokens: 64,
        temperature: 0,
        top_p: 0.5,
        top_k: 40,
        enable_thinking: false,
        reasoning_budget: "low",
        seed: 7,
        stop: ["\n"],
      },
    },
    issues: {},
  });
});

test.each([
  ["max_tokens", "0"],
  ["max_tokens", "1.5"],
  ["temperature", "-1"],
  ["temperature", "warm"],
  ["top_p", "0"],
  ["top_p", "1.01"],
  ["top_k", "-1"],
  ["top_k", "Infinity"],
  ["further", "{"],
  ["further", "[1]"],
  ["further", "null"],
  ["further", '{"temperature": 1}'],
  ["further", '{"seed": 9007199254740993}'],
])("%s: %s is rejected at its field", (field, text) => {
  const { request, issues } = readDraft(withParams({ [field]: text }));
  expect(Object.keys(issues)).toEqual([`params.${field}`]);
  expect(request.params).toBeUndefined();
});

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

test("What a world was told beside is no parameter", () => {
  const throughWorld = { ...asked.params, world: "shop@2", explain: true, exclude: { trajectory_id: "t-1" } };
  expect(toPlaygroundDraft({ ...asked, params: throughWorld })).toEqual(toPlaygroundDraft(asked));
});

test("A chat, and the steps before, have no fields in the playground", () => {
  expect(toPlaygroundDraft({ ...asked, interaction: null })).toBeUndefined();
  const history = [{ action: "look", observation: "A kitchen." }];
  expect(toPlaygroundDraft({ ...asked, params: { world: "shop@2", history } })).toBeUndefined();
});
