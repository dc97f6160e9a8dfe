import { expect, test } from "bun:test";
import { readPrompt } from "./read-prompt.ts";

test("a section extends to the next header, including empty lines", () => {
  const prompt = readPrompt(
    "## ENVIRONMENT STATE\none\n\ntwo\n\n## TASK CONTEXT\nthree\n\n## DOMAIN KNOWLEDGE\nfour",
    "State: here\n\nAction: wait",
  );
  expect(prompt).toEqual({
    environment: "one\n\ntwo",
    task: "three",
    tools: "",
    knowledge: "four",
    state: "here",
    action: "wait",
  });
});

test("the last action is performed, because a state may quote others", () => {
  const { state, action } = readPrompt("", "State: State: x\n\nAction: old\n\nThen\n\nAction: new");
  expect(state).toBe("State: x\n\nAction: old\n\nThen");
  expect(action).toBe("new");
});

test("a turn without labels is an action in an unknown state", () => {
  expect(readPrompt("", "open door")).toMatchObject({ state: "", action: "open door" });
});
