import { expect, test } from "bun:test";
import { changedInputs } from "./response-tab.tsx";

const interaction = { state: "You are in the hall.", action: "look" };

test("equal requests do not differ", () => {
  const request = { interaction, params: { stop: ["\n"] } };
  expect(changedInputs(request, structuredClone(request))).toEqual([]);
});

test("changed, added and removed inputs are named", () => {
  const one = { context: { task_context: "Leave." }, interaction, params: { temperature: 0, stop: ["\n"] } };
  const other = { interaction: { ...interaction, action: "go" }, params: { temperature: 0, stop: ["\t"] } };
  expect(changedInputs(one, other)).toEqual(["task_context", "action", "stop"]);
});
