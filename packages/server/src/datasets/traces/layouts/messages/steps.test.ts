import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join("\n");

test("lines of state, action and next state are samples, in trajectories that end where they are done", async () => {
  const { samples, figures } = await importText(
    lines(
      {
        obs: { day: 0 },
        action: { tool: "wait", args: { days: 1 } },
        reward: -2,
        next_obs: { day: 1 },
        done: true,
      },
      { obs: "", action: " look ", next_obs: "A drawer." },
      { obs: "A desk.", action: " ", next_obs: "A drawer." },
      { obs: "A desk.", action: 3, next_obs: "A drawer." },
    ),
    { name: "rl.jsonl" },
  );
  expect(figures.files).toMatchObject([{ format: "steps", recognised_by: "state, action and next state" }]);
  expect(figures.left_out).toEqual({ other_event: 1 });
  const tags = { source: "steps" };
  expect(samples).toEqual([
    {
      ...{ trajectory_id: "rl-1", step: 0, reward: -2, done: true, tags },
      interaction: { state: '{"day":0}', action: '{"input":{"days":1},"tool":"wait"}' },
      next_state: '{"day":1}',
    },
    {
      trajectory_id: "rl-2",
      step: 0,
      interaction: { state: "(no output)", action: "look" },
      next_state: "A drawer.",
      tags,
    },
    {
      trajectory_id: "rl-2",
      step: 1,
      interaction: { state: "A desk.", action: "3" },
      next_state: "A drawer.",
      tags,
    },
  ]);
});

test("a flat line with an id and a step is no line of Presage's own, and one without an action is", async () => {
  const flat = { trajectory_id: "t", step: 4, state: "a", action: "b", next_state: "c" };
  expect((await importText(lines(flat))).samples).toMatchObject([
    { trajectory_id: "t", step: 0, next_state: "c" },
  ]);
  const own = { trajectory_id: "t", step: 4, interaction: { state: "a", action: "b" }, next_state: "c" };
  expect((await importText(lines(own))).figures.files).toMatchObject([{ format: "presage" }]);
});

test.each([
  [
    "steps",
    {
      thought: "A drawer?",
      action: { tool_name: "shell", tool_args: { cmd: "ls" } },
      observation: "key.txt",
    },
  ],
  ["trace", { step: 0, tool: "shell", args: { cmd: "ls" }, result: "key.txt" }],
])("%s of calls and what they led to are a trajectory", async (name, step) => {
  const last = { ...step, reward: 1, done: true };
  const { samples } = await importText(lines({ id: "r1", goal: "Find the key.", [name]: [step, last] }));
  const action = '{"input":{"cmd":"ls"},"tool":"shell"}';
  expect(samples).toMatchObject([
    {
      trajectory_id: "r1",
      context: { task_context: "Find the key." },
      interaction: { state: "Find the key.", action },
    },
    { interaction: { state: "key.txt", action }, next_state: "key.txt", reward: 1, done: true },
  ]);
});

test("an observation before its action is not taken for its answer", async () => {
  const run = { steps: [{ observation: "A drawer.", action: "open drawer", reward: 0 }] };
  await expect(importText(lines(run))).rejects.toThrow("No known format");
});
