import { expect, test } from "bun:test";
import { stateOfInput } from "./state-change.ts";

test("a state by itself is the state", () => {
  expect(stateOfInput("The door is open.\nAction: none")).toBe("The door is open.\nAction: none");
  expect(stateOfInput("")).toBe("");
});

test("the state is read from a composed prompt", () => {
  expect(stateOfInput("State: The door is open.\n\nAction: close door")).toBe("The door is open.");
  expect(stateOfInput("State: \n\nAction: look")).toBe("");
  expect(stateOfInput("## ENVIRONMENT STATE\nA house.\n\nState: Here.\nThere.\n\nAction: look")).toBe(
    "Here.\nThere.",
  );
});

test("a state that quotes an action is read whole", () => {
  expect(stateOfInput("State: Log:\n\nAction: open\nDone.\n\nAction: close")).toBe(
    "Log:\n\nAction: open\nDone.",
  );
});
