import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const step = (action: string, observation: string, thought = "") => ({
  ...{
    action,
    observation,
    response: `${thought}\n${action}`,
    thought,
    execution_time: 0.2,
    state: { open_file: "n/a" },
  },
  ...{ query: [{ role: "system", content: "You have a shell." }], extra_info: {} },
});
const said = (role: string, content: unknown, more: object = {}) => ({
  role,
  content,
  agent: "main",
  ...more,
});
const demo = { is_demo: true, message_type: "demonstration" };

/** As SWE-agent 1.1 saves a run. */
const run = {
  trajectory: [
    step("ls drawer\n", "key.txt\nnails", "I look."),
    step("", "", "I do not know."),
    step("rm nails", ""),
    step("submit", "diff --git a/key b/key"),
  ],
  history: [
    said("system", "You have a shell.", { message_type: "system_prompt" }),
    said("user", "Here is a demonstration.", demo),
    said("assistant", "ls", demo),
    said("user", "Be careful."),
    said("user", [{ type: "text", text: "Find the key.", cache_control: { type: "ephemeral" } }]),
    said("assistant", "I look.\nls drawer", { action: "ls drawer\n", thought: "I look." }),
    said("user", "key.txt\nnails"),
  ],
  info: { exit_status: "submitted", submission: "diff", model_stats: { instance_cost: 0.1 } },
  replay_config: JSON.stringify({ agent: { model: { name: "small" } }, problem_statement: { id: "keys-1" } }),
  environment: "main",
};

test("a run: its task apart from demonstrations, an empty observation, a step without action, its end", async () => {
  const { samples, figures } = await importText(JSON.stringify(run, null, 2), { name: "keys/keys-1.traj" });
  const steps = [
    ["Find the key.", "ls drawer", "key.txt\nnails"],
    ["key.txt\nnails", "rm nails", ""],
    ["(no output)", "submit", "diff --git a/key b/key"],
  ] as const;
  expect(samples).toEqual(
    steps.map(([state, action, next_state], step) => ({
      ...{ trajectory_id: "keys-1", step, next_state, interaction: { state, action } },
      context: { task_context: "Find the key.", domain_knowledge: "You have a shell." },
      done: step === 2 ? true : undefined,
      tags: { source: "swe-agent", model: "small", task: "keys-1" },
    })),
  );
  expect(figures.left_out).toEqual({ other_event: 2, reasoning: 2 });
  expect(figures.files).toMatchObject([{ recognised_by: "trajectory of action and observation, and info" }]);
});

test("a run that was cut short has no end, and of several attempts one is read", async () => {
  const change = { info: { exit_status: "submitted (exit_cost)" }, history: undefined, replay_config: "{" };
  const { samples, figures } = await importText(
    JSON.stringify({ attempts: [{}, {}, {}], ...run, ...change }),
  );
  expect(
    samples.map(({ trajectory_id, done, interaction }) => [trajectory_id, done, interaction?.state]),
  ).toEqual([
    ["line-1", undefined, "(start)"],
    ["line-1", undefined, "key.txt\nnails"],
    ["line-1", undefined, "(no output)"],
  ]);
  expect(figures.left_out).toEqual({ branch: 2, reasoning: 2 });
});

test.each([
  [{ trajectory: [run.trajectory[0], null] }, ["trajectory", 1]],
  [{ trajectory: [{ action: 4, observation: "" }] }, ["trajectory", 0, "action"]],
  [{ trajectory: [{ action: "", observation: [] }] }, ["trajectory", 0, "observation"]],
  [{ trajectory: [run.trajectory[0], {}] }, ["trajectory", 1, "action"]],
  [{ history: [1] }, ["history", 0]],
  [{ history: {} }, ["history"]],
])("the fault of %j", async (change, path) => {
  await expect(importText(JSON.stringify({ ...run, ...change }))).rejects.toMatchObject({
    faults: [{ path }],
  });
});

test("values of other types are passed over", async () => {
  const change = {
    attempts: 4,
    replay_config: { agent: 5, problem_statement: [] },
    info: { exit_status: {} },
  };
  const trajectory = run.trajectory.map((one) => ({ ...one, thought: 4, observation: null }));
  const history = run.history.map((one) => ({ ...one, role: 4 }));
  const { samples } = await importText(JSON.stringify({ ...run, ...change, trajectory, history }));
  expect(samples.map(({ next_state }) => next_state)).toEqual(["", "", ""]);
});
