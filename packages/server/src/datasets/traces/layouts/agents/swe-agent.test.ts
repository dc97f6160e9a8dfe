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

/** As mini-swe-agent 2.4 saves a run. */
const mini = {
  info: {
    config: { model: { model_name: "small" }, agent: {} },
    ...{ mini_version: "2.4.6", exit_status: "Submitted", submission: "diff" },
  },
  messages: [
    { role: "system", content: "You have a shell." },
    { role: "user", content: "Find the key." },
    {
      ...{ role: "assistant", content: "I look.\n```bash\nls drawer\n```" },
      extra: { cost: 0.01, response: { usage: { prompt_tokens: 12, completion_tokens: 5 } } },
    },
    { role: "user", content: "key.txt", extra: { raw_output: "key.txt", timestamp: 1767225601.5 } },
    { role: "assistant", content: "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```" },
    { role: "exit", content: "diff", extra: { exit_status: "Submitted" } },
  ],
  ...{ trajectory_format: "mini-swe-agent-1.1", instance_id: "keys__1" },
};

test("in a run of mini-swe-agent the assistant is the agent, although it calls no tool", async () => {
  const { samples, figures } = await importText(JSON.stringify(mini), { name: "keys__1.traj.json" });
  expect(samples).toEqual([
    {
      ...{ trajectory_id: "keys__1.traj", step: 0, next_state: "key.txt", done: true },
      context: { task_context: "Find the key.", domain_knowledge: "You have a shell." },
      interaction: { state: "Find the key.", action: "I look.\n```bash\nls drawer\n```" },
      ...{ at: "2026-01-01T00:00:01.500Z" },
      usage: { prompt_tokens: 12, completion_tokens: 5, cost_usd: 0.01 },
      tags: { source: "swe-agent", model: "small", task: "keys__1" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, other_event: 1 });
  expect(figures.files).toMatchObject([{ recognised_by: "trajectory_format mini-swe-agent-1.1" }]);
});

test("calls of mini-swe-agent are calls, and a message without a role is a fault", async () => {
  const calls = [{ id: "c1", function: { name: "bash", arguments: '{"command":"ls"}' } }];
  const messages = [
    { role: "user", content: "Find the key." },
    { role: "assistant", content: null, tool_calls: calls },
    { role: "tool", tool_call_id: "c1", content: "key.txt" },
  ];
  const read = (all: object[]) => importText(JSON.stringify({ ...mini, info: {}, messages: all }));
  const [sample] = (await read(messages)).samples;
  expect(sample?.interaction?.action).toBe('{"input":{"command":"ls"},"tool":"bash"}');
  expect(sample?.done).toBeUndefined();
  expect(read([...messages, { type: "x" }])).rejects.toMatchObject({
    faults: [{ path: ["messages", 3, "role"], reason: "Field required" }],
  });
});
