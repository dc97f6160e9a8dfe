import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

type Fields = Record<string, unknown>;

const at = (second: number) => new Date(1_767_225_600_000 + second * 1000).toISOString();
const row = (start: number, type: string, fields: Fields) => ({
  id: `o${start}`,
  traceId: "trace-1",
  type,
  startTime: at(start),
  endTime: at(start + 1),
  parentObservationId: start === 0 ? null : "o0",
  level: "DEFAULT",
  statusMessage: null,
  ...fields,
});
const call = (id: string, cmd: string, name = "shell") => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify({ cmd }) },
});
const messages = [
  { role: "system", content: "You look for keys." },
  { role: "user", content: "Find the key." },
];
const observations = [
  row(3, "SPAN", { name: "shell", input: { cmd: "ls box" }, level: "ERROR", statusMessage: "no such box" }),
  row(0, "AGENT", { name: "finder", input: "Find the key." }),
  row(1, "GENERATION", {
    name: "m1-call",
    model: "m1",
    input: { messages, tools: [{ type: "function", function: { name: "shell" } }] },
    output: {
      role: "assistant",
      content: "I look.",
      tool_calls: [call("c1", "ls drawer"), call("c2", "ls box")],
    },
    usageDetails: { input: 12, output: 3, total: 15 },
  }),
  row(2, "TOOL", { name: "shell", input: { cmd: "ls drawer" }, output: "key.txt\nnails" }),
  row(2, "EVENT", { name: "note" }),
  row(4, "SPAN", { name: "render", input: 1, output: 2 }),
];
const trace = {
  id: "trace-1",
  timestamp: at(0),
  name: "finder",
  input: "Find the key.",
  output: "In the drawer.",
  observations,
  scores: [
    { name: "other", value: 3 },
    { name: "reward", value: 0.5, dataType: "NUMERIC", observationId: null },
  ],
};
const lines = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join("\n");
const action = (input: unknown, tool = "shell") => JSON.stringify({ input, tool });

test("every field of samples, from a trace with its observations", async () => {
  const { samples, figures } = await importText(JSON.stringify(trace));
  const common = {
    trajectory_id: "trace-1",
    context: {
      task_context: "Find the key.",
      tool_schemas: '[{"type":"function","function":{"name":"shell"}}]',
      domain_knowledge: "You look for keys.",
    },
    usage: { prompt_tokens: 12, completion_tokens: 3 },
  };
  const tags = { source: "langfuse", model: "m1", agent: "finder" };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "Find the key.", action: action({ cmd: "ls drawer" }) },
      next_state: "key.txt\nnails",
      at: at(3),
      tags,
    },
    {
      ...common,
      step: 1,
      interaction: { state: "key.txt\nnails", action: action({ cmd: "ls box" }) },
      next_state: "no such box",
      reward: 0.5,
      at: at(4),
      tags: { ...tags, error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ other_event: 1, text_beside_call: 1 });
});

const snake = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

for (const [form, text] of Object.entries({
  "a trace beside its observations, as the page downloads it": JSON.stringify({
    trace: { ...trace, observations: undefined },
    observations,
  }),
  "traces in an array": JSON.stringify([trace]),
  "a page of traces": JSON.stringify({ data: [trace], meta: { page: 1 } }),
  "rows as lines": lines(...observations),
  "a page of rows": JSON.stringify({ data: observations, meta: {} }),
  "a page of observations": JSON.stringify({ observations }),
  "rows in snake case": lines(...observations.map(snake)),
  "rows as Langfuse exports them to a bucket": lines(
    ...observations.map(snake).map(({ model, ...one }) => ({ ...one, provided_model_name: model })),
  ),
  "rows whose messages are texts of JSON": lines(
    ...observations.map((one) =>
      "input" in one && "output" in one && one.type === "GENERATION"
        ? { ...one, input: JSON.stringify(one.input), output: JSON.stringify(one.output) }
        : one,
    ),
  ),
}))
  test(`the same samples from ${form}`, async () => {
    const expected = await importText(JSON.stringify(trace));
    const found = await importText(text);
    expect(found.figures.format).toBe("langfuse");
    const comparable = ({ samples }: typeof found) => samples.map(({ reward: _, ...sample }) => sample);
    expect(comparable(found)).toEqual(comparable(expected));
    expect(found.figures.left_out).toEqual(expected.figures.left_out);
  });

test("a trace beside its observations tells its task and its scores, in one document or a line", async () => {
  const { observations: _, ...about } = {
    ...trace,
    input: "Where?",
    scores: [{ name: "reward", value: 0.5 }],
  };
  for (const indent of [0, 1])
    for (const one of [
      { trace: about, observations },
      { observations, trace: about },
    ]) {
      const { samples } = await importText(JSON.stringify(one, null, indent));
      expect([samples[0]?.trajectory_id, samples[0]?.context?.task_context, samples.at(-1)?.reward]).toEqual([
        trace.id,
        "Where?",
        0.5,
      ]);
    }
});

test("the task is the trace's input, its first user, or what the first generation was told", async () => {
  const first = async (input: unknown, rows: unknown[] = observations) => {
    const { samples } = await importText(JSON.stringify({ ...trace, input, observations: rows }));
    return [samples[0]?.context?.task_context, samples[0]?.interaction?.state];
  };
  const own = ["Where?", "Where?"];
  expect(await first("Where?")).toEqual(own);
  expect(await first({ messages: [{ role: "user", content: "Where?" }] })).toEqual(own);
  expect(await first([{ role: "user", content: "Where?" }])).toEqual(own);
  expect(await first('[{"role":"user","content":"Where?"}]')).toEqual(own);
  expect(await first(null)).toEqual(["Find the key.", "Find the key."]);
  expect(await first({ args: [] })).toEqual(["Find the key.", "Find the key."]);
  expect(await first(null, [observations[3]])).toEqual([undefined, "(start)"]);
});

test("rewards: a score of an observation, one of another name, a truth; LangChain's tool messages", async () => {
  const tool = row(1, "TOOL", {
    name: "shell",
    input: { cmd: "ls" },
    output: { type: "tool", content: "key.txt", tool_call_id: "c1", status: "success" },
  });
  const scored = (scores: unknown[], score?: string) =>
    importText(JSON.stringify({ id: "t", observations: [tool, { ...tool, id: "o2" }], scores }), { score });
  const rewards = async (...given: Parameters<typeof scored>) =>
    (await scored(...given)).samples.map(({ reward }) => reward);
  expect(await rewards([{ name: "reward", value: 0.1, observationId: "o1" }])).toEqual([0.1, undefined]);
  expect(await rewards([{ name: "reward", value: true }])).toEqual([undefined, 1]);
  expect(await rewards([{ name: "quality", value: 2 }], "quality")).toEqual([undefined, 2]);
  expect(await rewards([null, 1, { name: "reward", value: "good" }])).toEqual([undefined, undefined]);
  expect((await scored([])).samples[0]).toMatchObject({
    next_state: "key.txt",
    tags: { source: "langfuse" },
  });
});

test("without an answer of a tool, the conversation of the last generation", async () => {
  const history = [
    ...messages,
    { role: "assistant", content: null, tool_calls: [call("c1", "ls")] },
    { role: "tool", tool_call_id: "c1", content: "key.txt" },
  ];
  const rows = [
    row(1, "GENERATION", {
      input: messages,
      output: { tool_calls: [call("c1", "ls")] },
      usage: { promptTokens: 12, completionTokens: 3 },
    }),
    row(2, "GENERATION", { input: history, output: "Done." }),
  ];
  const { samples, figures } = await importText(lines(...rows));
  expect(samples).toMatchObject([
    {
      interaction: { state: "Find the key.", action: action({ cmd: "ls" }) },
      next_state: "key.txt",
      usage: { prompt_tokens: 12, completion_tokens: 3 },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1 });
});

test("observations of ids only say to fetch each trace; faults name the field; odd values are passed over", async () => {
  const fault = (line: number, path: (string | number)[], reason: unknown) => ({
    faults: [{ line, path, reason }],
  });
  expect(importText(JSON.stringify({ data: [{ id: "t", observations: ["o1"] }] }))).rejects.toMatchObject(
    fault(1, ["data", 0, "observations", 0], expect.stringContaining("fetch each trace")),
  );
  expect(importText(lines(trace, { ...trace, observations: [{}] }))).rejects.toMatchObject(
    fault(2, ["observations", 0, "type"], "Field required"),
  );
  expect(importText(lines(observations[0], { ...observations[0], traceId: 1 }))).rejects.toMatchObject(
    fault(2, ["traceId"], "Field required"),
  );
  const odd = [1, null, "x", [], [null, 1], {}, { messages: 1 }].flatMap((value) => [
    row(1, "GENERATION", {
      input: value,
      output: value,
      usageDetails: value,
      model: value,
      startTime: value,
    }),
    row(2, "TOOL", { name: "shell", input: value, output: "x", level: value, endTime: value }),
    row(3, "CHAIN", { input: value, name: value, parentObservationId: null }),
  ]);
  expect((await importText(lines(...odd))).samples).toHaveLength(7);
  expect((await importText(JSON.stringify({ ...trace, observations: odd, scores: 1 }))).samples).toHaveLength(
    7,
  );
});

test("a span of OpenTelemetry is a call of the tool that its attribute names, and JSON that is text twice is read", async () => {
  const named = (name: string) => ({ metadata: { attributes: { "gen_ai.tool.name": name } } });
  const spans = [
    row(1, "TOOL", { name: "execute_tool shell", input: { cmd: "ls" }, output: "a", ...named("shell") }),
    row(2, "SPAN", { name: "tool.shell", input: { cmd: "pwd" }, output: "b", ...named("shell") }),
    row(3, "TOOL", { name: "execute_tool shell", input: { cmd: "id" }, output: "c" }),
  ];
  const input = JSON.stringify(JSON.stringify([{ role: "user", parts: [{ text: "Find the key." }] }]));
  const { samples } = await importText(JSON.stringify({ trace: { id: "t", input }, observations: spans }));
  expect(samples.map(({ interaction }) => interaction)).toEqual([
    { state: "Find the key.", action: action({ cmd: "ls" }) },
    { state: "a", action: action({ cmd: "pwd" }) },
    { state: "b", action: action({ cmd: "id" }) },
  ]);
  const request = JSON.stringify(JSON.stringify({ user_id: "u" }));
  const generation = row(0, "GENERATION", {
    input: { model: "g-1", contents: [{ role: "user", parts: [{ text: "Go." }] }] },
    output: {
      candidates: [
        { content: { role: "model", parts: [{ function_call: { name: "shell", args: { cmd: "ls" } } }] } },
      ],
    },
  });
  const called = row(1, "SPAN", { name: "shell", input: "{'cmd': 'ls'}", output: "x" });
  const told = await importText(
    JSON.stringify({ ...trace, input: request, observations: [generation, called] }),
  );
  expect(told.samples).toMatchObject([
    {
      context: { task_context: "Go." },
      interaction: { state: "Go.", action: action({ cmd: "ls" }) },
      next_state: "x",
    },
  ]);
});
