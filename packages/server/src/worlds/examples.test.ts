import { expect, test } from "bun:test";
import { adaptAnswer } from "./examples.ts";
import { fieldsOf } from "./world.ts";

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
