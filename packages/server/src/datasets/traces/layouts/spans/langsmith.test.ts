import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

type Run = Record<string, unknown>;

const fixture = (name: string) => Bun.file(new URL(name, import.meta.url)).text();
/** Runs recorded by LangSmith's own decorators. */
const file = await fixture("langsmith.fixture.jsonl");
const runs: Run[] = file
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const lines = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join("\n");
const action = (input: unknown) => JSON.stringify({ input, tool: "shell" });

test("every field of samples, from tool runs and the llm run that called them", async () => {
  const { samples, figures } = await importText(file);
  const common = {
    trajectory_id: "01a22266-b796-7ba1-af5c-b625d93a848f",
    context: { task_context: "Find the key.", domain_knowledge: "You look for keys." },
    usage: { prompt_tokens: 12, completion_tokens: 3 },
  };
  const tags = { source: "langsmith", model: "m1" };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "Find the key.", action: action({ cmd: "ls drawer" }) },
      next_state: "key.txt\nnails",
      at: "2026-11-28T13:44:46.743198Z",
      tags,
    },
    {
      ...common,
      step: 1,
      interaction: { state: "key.txt\nnails", action: action({ cmd: "ls box" }) },
      next_state: "OSError('no such box')",
      at: "2026-11-28T13:44:46.743556Z",
      tags: { ...tags, error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ text_beside_call: 1 });
});

const [root = {}, ...children] = runs;
for (const [form, text] of Object.entries({
  "an array, the last first": JSON.stringify(runs.toReversed()),
  "a page": JSON.stringify({ runs, cursors: { next: null } }),
  "a run that holds the others": JSON.stringify({ ...root, child_runs: children }),
  "runs without trace_id": lines(...runs.map(({ trace_id: _, ...run }) => run)),
  "runs without dotted_order": lines(...runs.map(({ dotted_order: _, ...run }) => run)),
}))
  test(`the same samples from ${form}`, async () => {
    const found = await importText(text);
    expect(found.samples).toEqual((await importText(file)).samples);
    expect(found.figures.format).toBe("langsmith");
  });

test("LangChain's runs, with its messages in constructors", async () => {
  const { samples, figures } = await importText(await fixture("langsmith-langchain.fixture.jsonl"));
  expect(samples).toMatchObject([
    {
      context: { task_context: "Find the key.", domain_knowledge: "You look for keys." },
      interaction: { state: "Find the key.", action: action({ cmd: "ls drawer" }) },
      next_state: "key.txt\nnails",
    },
    {
      interaction: { state: "key.txt\nnails", action: action({ cmd: "ls box" }) },
      next_state: "ValueError('no such box')",
      tags: { error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1 });
});

const run = (second: number, run_type: string, fields: Run): Run => ({
  id: `r${second}`,
  trace_id: "t1",
  run_type,
  name: "shell",
  start_time: new Date(1_767_225_600_000 + second * 1000).toISOString().slice(0, -1),
  ...fields,
});
const args = (cmd: string) => ({ id: cmd, name: "shell", args: { cmd } });
const llm = run(1, "llm", {
  inputs: { messages: [[{ type: "human", data: { content: "Find the key." } }]] },
  outputs: { role: "assistant", tool_calls: [args("ls"), args("pwd")] },
  extra: { invocation_params: { tools: [{ name: "shell" }] } },
});

test("arguments as Python writes them are taken from the model's calls of that name, in order", async () => {
  const tool = (second: number, inputs: unknown) =>
    run(second, "tool", { inputs, outputs: { output: `out ${second}` } });
  const actions = async (...all: Run[]) =>
    (await importText(lines(...all))).samples.map(({ interaction }) => interaction?.action);
  const repr = [tool(2, { input: "{'cmd': 'ls'}" }), tool(3, { input: "{'cmd': 'pwd'}" })];
  expect(await actions(llm, ...repr)).toEqual([action({ cmd: "ls" }), action({ cmd: "pwd" })]);
  expect(await actions(tool(2, { input: "{'cmd': 'ls'}" }))).toEqual([action({ input: "{'cmd': 'ls'}" })]);
  expect(await actions(llm, tool(2, { input: '{"cmd":"ls -l"}' }))).toEqual([action({ cmd: "ls -l" })]);
  expect(await actions(llm, tool(2, { input: "ls", cwd: "/" }))).toEqual([action({ cwd: "/", input: "ls" })]);
});

test("answers: outputs as they are, none, and a tool that gives nothing; the task of `inputs.input`", async () => {
  const tool = (second: number, outputs: unknown) => run(second, "tool", { inputs: {}, outputs });
  const { samples, figures } = await importText(
    lines(
      run(0, "chain", { inputs: { input: "Look." }, name: "finder" }),
      run(1, "retriever", { inputs: { query: "x" } }),
      tool(2, { b: 1, a: 2 }),
      tool(3, { output: null }),
      tool(4, null),
    ),
  );
  expect(samples.map(({ interaction, next_state }) => [interaction?.state, next_state])).toEqual([
    ["Look.", '{"a":2,"b":1}'],
    ['{"a":2,"b":1}', ""],
  ]);
  expect(samples[0]?.context).toEqual({ task_context: "Look." });
  expect(figures.left_out).toEqual({ call_without_answer: 1, other_event: 1 });
});

test("without an answer of a tool, the conversation of the last llm run", async () => {
  const messages = [
    { role: "user", content: "Find the key." },
    { type: "function_call", call_id: "c1", name: "shell", arguments: '{"cmd":"ls"}' },
    { type: "function_call_output", call_id: "c1", output: "key.txt" },
  ];
  const { samples } = await importText(
    lines(
      llm,
      run(2, "llm", { inputs: { input: messages }, outputs: { generations: [[{ text: "Done." }]] } }),
    ),
  );
  expect(samples).toMatchObject([
    {
      context: { task_context: "Find the key.", tool_schemas: '[{"name":"shell"}]' },
      interaction: { state: "Find the key.", action: action({ cmd: "ls" }) },
      next_state: "key.txt",
    },
  ]);
});

test("faults name the field, and odd values are passed over", async () => {
  const fault = (path: (string | number)[]) => ({ faults: [{ line: 2, path, reason: "Field required" }] });
  const bad: [Run, (string | number)[]][] = [
    [{ ...llm, trace_id: 1, dotted_order: "x" }, ["trace_id"]],
    [{ ...llm, run_type: null }, ["run_type"]],
    [{ ...llm, child_runs: [{ run_type: "tool" }] }, ["child_runs", 0, "trace_id"]],
  ];
  for (const [one, path] of bad) expect(importText(lines(llm, one))).rejects.toMatchObject(fault(path));
  const odd = [1, null, "x", [], [null, 1], {}, { messages: [1] }, { generations: [[]] }].flatMap((value) => [
    run(1, "llm", { inputs: value, outputs: value, extra: value, prompt_tokens: value, start_time: value }),
    run(2, "tool", { inputs: value, name: value, error: "failed", extra: value, end_time: value }),
    run(3, "chain", { inputs: value, child_runs: null }),
    run(4, "prompt", {}),
  ]);
  expect((await importText(lines(...odd))).samples).toHaveLength(8);
});
