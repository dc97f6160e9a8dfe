import { expect, test } from "bun:test";
import type { EnvironmentTask, StepResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();

/** What solves each task, by its prompt. */
const solutions: Record<string, string[]> = {
  "Turn on the lantern.": ["activate lantern"],
  "Open the chest.": ["open chest"],
  "Take the hammer.": ["pick up hammer"],
  "Put the hammer in the jar.": ["move hammer to jar"],
  "Go to the yard.": ["go to yard"],
  "Bring the kite.": ["go to yard", "look around", "pick up kite"],
  "Focus on the rope in the yard.": ["go to yard", "focus on rope"],
  "Open the shed in the yard.": ["go to yard", "open shed"],
  "Turn on the stove.": ["activate stove"],
  "Open the cupboard.": ["open cupboard"],
  "Take the apple.": ["pick up apple"],
  "Put the apple in the bowl.": ["move apple to bowl"],
  "Go to the pantry.": ["go to pantry"],
  "Bring the broom.": ["go to pantry", "pick up broom"],
  "Turn on the lamp in the pantry.": ["go to pantry", "activate lamp"],
  "Open the crate in the pantry.": ["go to pantry", "open crate"],
  "Focus on the lantern.": ["focus on lantern"],
  "Bring the rope.": ["go to yard", "pick up rope"],
  "Eat the apple.": ["eat apple"],
  "Focus on the broom in the pantry.": ["go to pantry", "focus on broom"],
};

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const response = await presage.call(method, path, body);
  expect(response.ok).toBe(true);
  return (await response.json()) as Body;
}

test("each of the sandbox's twenty tasks can be solved, and only its solution has a reward", async () => {
  let solved = 0;
  for (const split of ["train", "test"]) {
    const { data } = await call<{ data: EnvironmentTask[] }>(
      "GET",
      `/v1/environments/sandbox/tasks?split=${split}`,
    );
    for (const { index, prompt } of data) {
      const start = { environment: "sandbox", split, index };
      const { episode_id: id } = await call<{ episode_id: string }>("POST", "/v1/episodes", start);
      const actions = solutions[prompt ?? ""] ?? [];
      for (const [place, action] of actions.entries()) {
        const step = await call<StepResponse>("POST", `/v1/episodes/${id}/step`, { action });
        const isLast = place === actions.length - 1;
        expect([prompt, action, step.terminated, step.reward]).toEqual([
          prompt,
          action,
          isLast,
          isLast ? 1 : null,
        ]);
      }
      solved += 1;
    }
  }
  expect(solved).toBe(20);
});

test("the sandbox knows in an episode what happened before, also after an action that it does not understand", async () => {
  const start = { environment: "sandbox", split: "train", index: 0 };
  const { episode_id: id } = await call<{ episode_id: string }>("POST", "/v1/episodes", start);
  const observations: string[] = [];
  for (const action of ["open chest", "take hammer", "sing", "open chest", "look around"]) {
    const step = await call<StepResponse>("POST", `/v1/episodes/${id}/step`, { action });
    observations.push(step.observation);
  }
  expect(observations.slice(0, 4)).toEqual([
    "The chest is now open.",
    "You move the hammer to the inventory.",
    "No known action matches that input.",
    "The chest is already open.",
  ]);
  expect(observations[4]).toContain("This room is called the workshop.");
  expect(observations[4]).not.toContain("hammer");
});
