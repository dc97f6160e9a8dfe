import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

/** As verifiers 0.4.0 writes it. */
const trace = JSON.parse(await Bun.file(new URL("verifiers.fixture.jsonl", import.meta.url)).text());

test("a trace of verifiers': its longest branch, two calls in a turn, usage by node, weighted rewards", async () => {
  const { samples, figures } = await importText(`${JSON.stringify(trace)}\n`);
  const first = {
    state: "Find the key.",
    action: '{"input":{"cmd":"ls drawer"},"tool":"shell"}',
  };
  const usage = { prompt_tokens: 120, completion_tokens: 30, cached_tokens: 100, cost_usd: 0.002 };
  const of = {
    trajectory_id: "t1",
    context: {
      task_context: "Find the key.",
      tool_schemas: JSON.stringify(trace.tools),
      domain_knowledge: "Be brief.",
    },
    tags: { source: "verifiers", agent: "solver", model: "small", task: "keys-3" },
  };
  expect(samples).toEqual([
    { ...of, step: 0, interaction: first, next_state: "key.txt\nnails", usage },
    {
      ...{ ...of, step: 1, usage, next_state: "12 g[image]" },
      interaction: { state: "key.txt\nnails", action: '{"input":{},"tool":"weigh"}' },
    },
    {
      ...{ ...of, step: 2, next_state: "Yes.", reward: 1, done: true },
      interaction: { state: "12 g[image]", action: "key.txt?" },
      usage: { prompt_tokens: 9, completion_tokens: 1 },
    },
  ]);
  expect(figures.left_out).toEqual({
    ...{ branch: 2, last_message_of_agent: 1, media: 1, reasoning: 1, text_beside_call: 1 },
  });
  expect(figures.files).toMatchObject([{ recognised_by: "nodes of messages, and task" }]);
});

test("of branches that are equally long the first is read", async () => {
  const said = (parent: number | null, role: string, content: string) => ({
    parent,
    message: { role, content },
  });
  const nodes = [
    said(null, "user", "Go."),
    ...[
      said(0, "assistant", "a"),
      said(0, "assistant", "b"),
      said(2, "user", "of b"),
      said(1, "user", "of a"),
    ],
  ];
  const { samples } = await importText(JSON.stringify({ id: "x", task: {}, nodes }));
  expect(samples.map(({ next_state }) => next_state)).toEqual(["of b"]);
});

test.each([
  [{ is_timeout: true }, undefined, 1],
  [{ is_completed: false }, undefined, 1],
  [{ stop_condition: "max_turns" }, undefined, 1],
  [{ rewards: { a: null } }, true, undefined],
  [{ rewards: { a: { score: 2 }, b: { score: -1, weight: 0.5 }, c: 4 } }, true, 1.5],
  [{ rewards: [] }, true, undefined],
])("end and reward of a trace with %j", async (change, done, reward) => {
  const { samples } = await importText(JSON.stringify({ ...trace, ...change }));
  expect([samples.at(-1)?.done, samples.at(-1)?.reward]).toEqual([done, reward]);
});

const call = JSON.stringify({
  id: "c1",
  type: "function",
  function: { name: "shell", arguments: '{"cmd":"ls"}' },
});
const row = {
  ...{ example_id: 4, reward: 0.5, answer: "key.txt", task: "keys", is_completed: true },
  prompt: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Find the key." },
  ],
  completion: [
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "key.txt" },
    { role: "assistant", content: "key.txt" },
  ],
};

test("old rows have prompt and completion, and calls as texts", async () => {
  const { samples, figures } = await importText(
    `${JSON.stringify(row)}\n${JSON.stringify({ ...row, is_truncated: true })}\n`,
    { name: "results.jsonl" },
  );
  const one = {
    ...{ step: 0, next_state: "key.txt", reward: 0.5 },
    context: { task_context: "Find the key.", domain_knowledge: "Be brief." },
    interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls"},"tool":"shell"}' },
    tags: { source: "verifiers", task: "4" },
  };
  expect(samples).toEqual([
    { ...one, trajectory_id: "results", done: true },
    { ...one, trajectory_id: "results/2" },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 2 });
  const texts = JSON.stringify({
    input: "Find the key.",
    output: "key.txt",
    gts: "key.txt",
    score: 1,
    step: 5,
  });
  expect((await importText(texts)).figures).toMatchObject({
    samples: 0,
    left_out: { last_message_of_agent: 1 },
  });
});

test.each([
  [{ ...trace, nodes: [trace.nodes[0], null] }, ["nodes", 1]],
  [{ ...trace, nodes: [{ message: "no" }] }, ["nodes", 0, "message"]],
  [{ ...trace, nodes: [{ message: { role: {} } }] }, ["nodes", 0, "message", "role"]],
  [{ ...trace, nodes: [{ parent: 0, message: {} }] }, ["nodes", 0, "parent"]],
  [{ ...trace, nodes: [trace.nodes[0], { ...trace.nodes[1], parent: "0" }] }, ["nodes", 1, "parent"]],
  [{ ...trace, calls: [1] }, ["calls", 0]],
  [{ ...row, completion: [4] }, ["completion", 0]],
  [{ ...row, prompt: [{ role: "judge" }] }, ["prompt", 0, "role"]],
])("a fault", async (document, path) => {
  await expect(importText(JSON.stringify(document))).rejects.toMatchObject({ faults: [{ path }] });
});

test("values of other types are passed over", async () => {
  const odd = { id: {}, agent: 4, task: { key: [] }, stop_condition: 5, tools: null };
  const rewards = { a: { score: 1e308, weight: 10 } };
  const calls = [
    { node: "2", usage: [] },
    { node: 2, model: 4, usage: { prompt_tokens: "9", cost: -1 } },
  ];
  const { samples } = await importText(JSON.stringify({ ...trace, ...odd, calls, rewards }));
  expect(samples.map(({ usage, tags, reward }) => [usage, tags, reward])).toEqual(
    Array(3).fill([undefined, { source: "verifiers" }, undefined]),
  );
});
