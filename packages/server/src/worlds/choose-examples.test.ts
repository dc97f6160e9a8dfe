import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { adaptAnswer } from "./choose-examples.ts";
import { paramsThrough, type WorldCompletion, weighExamples, withoutText } from "./complete-through-world.ts";
import { composeTurns, fieldsOf, type ReadyWorld, toShown } from "./world.ts";

test.each([
  [
    "open red door",
    "open blue door",
    "The blue door, not the blueish, is open.",
    "The red door, not the blueish, is open.",
  ],
  ["move a to b", "move b to a", "b is in a", "a is in b"],
  ["take the old lamp now", "take big lamp now", "You take big lamp.", "You take the old lamp."],
  ["take big lamp now", "take lamp now", "You take lamp.", "You take lamp."],
  ["look", "look at box", "You look at box.", "You look at box."],
  ["open (c)", "open (a)", "x(a) (a)b (a)", "x(a) (a)b (c)"],
  ["go north", "walk south", "south", "south"],
  ['call {"a": 1}', 'call {"a": 2}', "2", "2"],
  ["put $& in x", "put cup in x", "the cup", "the $&"],
])("%s after %s", (action, recorded, nextState, adapted) => {
  expect(adaptAnswer(action, { action: recorded, nextState })).toBe(adapted);
});

test("a conversation's fields are its last turns and its task", () => {
  const sample = { dataset_sample_id: "s", trajectory_id: "t", step: 0, next_state: "" };
  const turn = (role: "system" | "user" | "assistant", content: string) => ({ role, content });
  const start = [turn("system", "rules"), turn("user", "first")];
  expect(fieldsOf({ ...sample, messages: start })).toEqual({ action: "first", state: "", task: "rules" });
  const messages = [...start, turn("assistant", "hall"), turn("user", "go")];
  expect(fieldsOf({ ...sample, messages })).toEqual({ action: "go", state: "hall", task: "first" });
  expect(fieldsOf({ ...sample, messages }, "yard").state).toBe("yard");
});

test("a parameter that is null is a world's own", () => {
  const config = { model: { params: { temperature: 0.3, max_tokens: 9 } } };
  const through = paramsThrough({ config } as ReadyWorld, { temperature: null, max_tokens: 5, top_p: null });
  expect(through).toEqual({ temperature: 0.3, max_tokens: 5 });
});

test("an answer without its text has only what every completion has, also of choices that are none", () => {
  const choices = [{ message: { content: "Secret." }, index: 0, finish_reason: "stop" }, null];
  const bytes = new TextEncoder().encode(JSON.stringify({ id: "c", choices, output_text: "Secret." }));
  const { body } = withoutText({ bytes } as unknown as WorldCompletion);
  expect(JSON.stringify(body)).not.toContain("Secret");
  expect([body.id, body.choices.length]).toEqual(["c", 2]);
});

test("an answer without its text has nothing that tells it, and is a whole completion", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const whole = { id: "c", object: "chat.completion", created: 1, model: "m", usage };
  const choice = { index: 0, message: { role: "assistant", content: "Secret." }, finish_reason: "stop" };
  const told = { ...choice, logprobs: { content: [{ token: "Secret" }] }, token_ids: [7], stop_reason: "." };
  const bytes = new TextEncoder().encode(JSON.stringify({ ...whole, choices: [told] }));
  // In the form of a completion from the cache.
  const { body, ...hidden } = withoutText({
    bytes,
    body: { choices: [choice] },
  } as unknown as WorldCompletion);
  const empty = { ...choice, message: { role: "assistant", content: "" }, logprobs: null };
  expect(body).toEqual({ ...whole, choices: [empty] });
  expect(JSON.parse(new TextDecoder().decode(hidden.bytes))).toEqual(body);
});

test("long texts of examples are cut between characters", () => {
  const sample = { dataset_sample_id: "s", trajectory_id: "t", step: 0 };
  const shown = (state: string, next_state: string) =>
    toShown(1, { ...sample, interaction: { state, action: "go" }, next_state });
  const { question, answer } = shown("🙂".repeat(1_001), `${"a".repeat(1_999)}🙂b`);
  expect(question).toBe(`State: ${"🙂".repeat(1_000)}… [+1 characters]\n\nAction: go`);
  expect(answer).toBe(`${"a".repeat(1_999)}🙂… [+1 characters]`);
  const whole = shown("🙂".repeat(1_000), "🙂".repeat(2_000));
  expect([whole.question.length, whole.answer.length]).toEqual([
    2_000 + "State: \n\nAction: go".length,
    4_000,
  ]);
});

test("an example holds no more of a long state than it shows", () => {
  const sample = { dataset_sample_id: "s", trajectory_id: "t", step: 0, next_state: "" };
  const held = () => {
    Bun.gc(true);
    return heapStats().extraMemorySize;
  };
  const before = held();
  const shown = Array.from({ length: 40 }, (_, index) =>
    toShown(index, { ...sample, interaction: { state: `${index}`.padEnd(500_000, "a"), action: "go" } }),
  );
  expect(held() - before).toBeLessThan(5_000_000);
  expect(shown).toHaveLength(40);
});

test("what is asked without a character has no share of examples", () => {
  const world = { config: { instructions: "" } } as ReadyWorld;
  expect(composeTurns(world, { messages: [{ role: "user", content: "" }] }, []).exampleShare).toBe(0);
});

test("examples take tokens and money by their share of the prompt", () => {
  const world = { config: { instructions: "x".repeat(80) } } as ReadyWorld;
  const asked = { interaction: { state: "", action: "a".repeat(12) } };
  const context = { dataset_sample_id: "s", trajectory_id: "t", step: 0 };
  const example = toShown(1, { ...context, interaction: { state: "", action: "bb" }, next_state: "c" });
  const prices = { currency: "EUR", models: new Map([["m", { prompt: 2, cached: 1, completion: 9 }]]) };
  const usage = { prompt_tokens: 1_110, completion_tokens: 5, total_tokens: 1_115 };
  // 80 characters of instructions, "Action: " and 12 of the question; "Action: bb" and "c".
  const weigh = (model: string, examples: (typeof example)[]) => {
    const body = { choices: [{}], usage } as unknown as Parameters<typeof weighExamples>[0]["body"];
    return weighExamples({ body, model, compose: () => composeTurns(world, asked, examples) }, prices);
  };
  expect(weigh("m", [example])).toEqual({ prompt_tokens_of_examples: 110, cost_of_examples: 0.00022 });
  expect(weigh("m", [])).toEqual({ prompt_tokens_of_examples: 0, cost_of_examples: 0 });
  expect(weigh("unknown", [example]).cost_of_examples).toBeNull();
});
