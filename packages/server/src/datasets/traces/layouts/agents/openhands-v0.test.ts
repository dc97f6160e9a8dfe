import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

const call = (id: string, args: object) => ({
  id,
  type: "function",
  function: { name: "execute_bash", arguments: JSON.stringify(args) },
});
/** The model's response, which each of its calls has. */
const response = {
  id: "gen-1",
  model: "m-1",
  usage: { prompt_tokens: 12, completion_tokens: 5 },
  choices: [{ message: { tool_calls: [call("t1", { command: "ls" }), call("t2", { command: "pwd" })] } }],
};
const called = (id: number, command: string, tool_call_id: string) => ({
  ...{ id, source: "agent", action: "run", args: { command, thought: "I look.", blocking: false } },
  tool_call_metadata: { function_name: "execute_bash", tool_call_id, model_response: response },
});
const observed = (id: number, cause: number, observation: string, content: string) => ({
  ...{ id, cause, source: "agent", observation, content, extras: {} },
  timestamp: `2026-01-01T10:00:0${id}.000000`,
});
const history = [
  { id: 0, source: "agent", action: "system", args: { content: "Be brief.", tools: [{ type: "function" }] } },
  { id: 1, source: "user", action: "message", args: { content: "Find the key." } },
  { id: 2, source: "user", action: "recall", args: { query: "Find the key." } },
  called(3, "ls", "t1"),
  called(4, "pwd", "t2"),
  { ...observed(5, 3, "run", "key.txt"), tool_call_metadata: { tool_call_id: "t1" } },
  observed(6, 4, "error", "No folder."),
  { id: 7, source: "agent", action: "finish", args: { thought: "Done." } },
];
const context = {
  task_context: "Find the key.",
  domain_knowledge: "Be brief.",
  tool_schemas: '[{"type":"function"}]',
};
const tags = { source: "openhands-v0", model: "m-1" };
const usage = { prompt_tokens: 12, completion_tokens: 5 };
const samples = [
  {
    step: 0,
    context,
    interaction: { state: "Find the key.", action: '{"input":{"command":"ls"},"tool":"execute_bash"}' },
    next_state: "key.txt",
    at: "2026-01-01T10:00:05.000000Z",
    usage,
  },
  {
    step: 1,
    context,
    interaction: { state: "key.txt", action: '{"input":{"command":"pwd"},"tool":"execute_bash"}' },
    next_state: "No folder.",
    at: "2026-01-01T10:00:06.000000Z",
    usage,
    done: true,
  },
];

test("an evaluation's line is a trajectory, whose calls of one response are one turn", async () => {
  const line = {
    instance_id: "x-1",
    metadata: { agent_class: "CodeActAgent" },
    history,
    report: { resolved: true },
  };
  const { samples: read, figures } = await importText(JSON.stringify(line));
  const of = { ...tags, task: "x-1", agent: "CodeActAgent" };
  expect(read).toEqual([
    { trajectory_id: "x-1", ...samples[0], tags: of },
    { trajectory_id: "x-1", ...samples[1], tags: { ...of, error: "true" }, reward: 1 },
  ] as typeof read);
  expect(figures.left_out).toEqual({ call_without_answer: 1, other_event: 1, text_beside_call: 2 });
  const pairs = { ...line, history: [history.slice(0, 2), history.slice(2, 4), history.slice(4)] };
  expect((await importText(JSON.stringify(pairs))).samples).toEqual(read);
});

test("events by themselves are one conversation with the file's name", async () => {
  const { samples: read } = await importText(JSON.stringify(history), { name: "run-1.json" });
  expect(read).toMatchObject(samples.map((sample) => ({ trajectory_id: "run-1", ...sample })));
});

test("an old history has actions without their arguments' names, source and ids", async () => {
  const old = [
    { action: "message", content: "Find the key.", wait_for_response: false },
    { action: "run", command: "ls", thought: "I look.", keep_prompt: true },
    { observation: "run", content: "key.txt", command: "ls", exit_code: 0 },
    { action: "message", content: "Where is it?", wait_for_response: true },
    { action: "message", content: "Go on.", wait_for_response: false },
  ];
  const { samples: read } = await importText(JSON.stringify({ history: old }));
  expect(read.map(({ interaction, next_state }) => [interaction?.action, next_state])).toEqual([
    ['{"input":{"command":"ls"},"tool":"run"}', "key.txt"],
    ["Where is it?", "Go on."],
  ]);
});
