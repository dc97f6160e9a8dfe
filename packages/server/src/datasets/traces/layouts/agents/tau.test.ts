import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { importText } from "../../import-text.fixture.ts";

/** Written by tau2-bench's own models. */
const results = readFileSync(`${import.meta.dir}/tau.fixture.json`, "utf8");
const [simulation] = JSON.parse(results).simulations;

test("simulations are trajectories, with the user as the environment, and without its own calls", async () => {
  const { samples, figures } = await importText(results);
  const tags = { source: "tau", task: "telecom_1", model: "m-agent", agent: "llm_agent" };
  const context = { task_context: "My phone is offline.", domain_knowledge: "Be polite." };
  const greeting = {
    step: 0,
    context,
    interaction: { state: "(start)", action: "Hi! How can I help you today?" },
    next_state: "My phone is offline.",
    at: "2026-01-01T10:00:01.500000Z",
    usage: { cost_usd: 0 },
    tags,
  };
  const usage = { prompt_tokens: 12, completion_tokens: 5, cost_usd: 0.02 };
  expect(samples).toEqual([
    { trajectory_id: "sim-1", ...greeting },
    {
      trajectory_id: "sim-1",
      step: 1,
      context,
      interaction: {
        state: "My phone is offline.",
        action: '{"input":{"full":true,"number":7},"tool":"get_line"}',
      },
      next_state: '{"line": "off"}',
      at: "2026-01-01T10:00:03.500000Z",
      usage,
      tags,
    },
    {
      trajectory_id: "sim-1",
      step: 2,
      context,
      interaction: { state: '{"line": "off"}', action: '{"input":{},"tool":"get_bill"}' },
      next_state: "Error: no bill",
      at: "2026-01-01T10:00:04.500000Z",
      usage,
      tags: { ...tags, error: "true" },
    },
    {
      trajectory_id: "sim-1",
      step: 3,
      context,
      interaction: { state: "Error: no bill", action: "Please turn it on." },
      next_state: "It is on. ###STOP###",
      at: "2026-01-01T10:00:08.500000Z",
      usage: { ...usage, cost_usd: 0.01 },
      reward: 1,
      done: true,
      tags,
    },
    { trajectory_id: "sim-2", ...greeting },
  ]);
  expect(figures.left_out).toEqual({ call_of_simulated_user: 1 });
  expect(figures.files).toMatchObject([
    { format: "tau", recognised_by: "simulations of task_id and messages" },
  ]);
});

test("a simulation in a file of its own, with several answers in one message, sound and its own policy", async () => {
  const [, , called, one, two] = simulation.messages;
  const heard = { role: "user", content: "UklGRg==", is_audio: true };
  const messages = [heard, called, { role: "tool", tool_messages: [one, two] }];
  const { samples, figures } = await importText(
    JSON.stringify({ ...simulation, policy: "Be quick.", messages }, null, 2),
  );
  expect(samples).toMatchObject([
    {
      context: { task_context: "[audio]", domain_knowledge: "Be quick." },
      interaction: { state: "[audio]" },
      next_state: one.content,
    },
    { next_state: two.content, reward: 1 },
  ]);
  expect(figures.left_out).toEqual({ media: 1 });
});

test("of a simulation of voice the ticks are counted", async () => {
  const voice = { ...simulation, id: "sim-2", messages: null, ticks: [{ tick_id: 0 }, { tick_id: 1 }] };
  const { samples, figures } = await importText(
    JSON.stringify({ info: {}, simulations: [simulation, voice] }),
  );
  expect(samples).toHaveLength(4);
  expect(figures.left_out).toEqual({ call_of_simulated_user: 1, other_event: 2 });
});

test("what a file says of all simulations may stand behind them", async () => {
  const info = { environment_info: { policy: "Be polite." } };
  for (const indent of [0, 1]) {
    const { samples } = await importText(JSON.stringify({ simulations: [simulation], info }, null, indent));
    expect(samples[0]?.context?.domain_knowledge).toBe("Be polite.");
  }
});

const faults: [string, object, (string | number)[]][] = [
  ["messages that are no list", { messages: {} }, ["messages"]],
  ["a message that is a text", { messages: [simulation.messages[0], "Hi."] }, ["messages", 1]],
  ["an unknown role", { messages: [{ role: "robot" }] }, ["messages", 0, "role"]],
];
for (const [name, faulty, path] of faults)
  test(`${name} is a fault of its simulation`, async () => {
    const simulations = [simulation, { ...simulation, ...faulty }];
    const { figures } = await importText(JSON.stringify({ info: {}, simulations }, null, 1), {
      skipsFaults: true,
    });
    expect(figures.faults.map(({ loc }) => loc)).toEqual([["body", "document", 2, ...path]]);
    expect(importText(JSON.stringify({ info: {}, simulations }))).rejects.toMatchObject({
      faults: [{ unit: "line", line: 1, path: ["simulations", 1, ...path] }],
    });
  });

test("runs of the first version are trajectories, by task and trial", async () => {
  const traj = [
    { role: "system", content: "Be polite." },
    { role: "user", content: "Hi." },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", function: { name: "ls", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", name: "ls", content: "key.txt" },
    { role: "assistant", content: "Anything else?" },
    { role: "user", content: "No. ###STOP###" },
  ];
  const run = { task_id: 3, reward: 1.0, info: { source: "user" }, traj, trial: 0 };
  const { samples, figures } = await importText(JSON.stringify([run, { ...run, trial: 1 }]));
  expect(figures.files).toMatchObject([{ format: "tau" }]);
  expect(samples.map(({ trajectory_id, reward }) => [trajectory_id, reward])).toEqual([
    ["3/0", undefined],
    ["3/0", 1],
    ["3/1", undefined],
    ["3/1", 1],
  ]);
  expect(samples[1]).toMatchObject({
    context: { task_context: "Hi.", domain_knowledge: "Be polite." },
    interaction: { state: "key.txt", action: "Anything else?" },
    next_state: "No. ###STOP###",
    tags: { task: "3" },
  });
});
