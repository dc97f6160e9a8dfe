import { expect, test } from "bun:test";
import { describeStopReason } from "./episodes.tsx";

test("The stop rule that ended an episode is said in the words of the form", () => {
  expect(describeStopReason("output_contains: {goal}")).toBe("observation contains the goal");
  expect(describeStopReason("action_equals: give up: now")).toBe("action is “give up: now”");
  expect(describeStopReason("The episode reached its limit of 20 steps.")).toBe(
    "The episode reached its limit of 20 steps.",
  );
});
