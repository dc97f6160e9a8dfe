import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

type Fields = Record<string, unknown>;

const otlpValue = (value: unknown): unknown => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  return { kvlistValue: { values: otlpList(value as Fields) } };
};
const otlpList = (fields: Fields) =>
  Object.entries(fields).map(([key, value]) => ({ key, value: otlpValue(value) }));

const second = 1_000_000_000n;
const begin = 1_767_225_600n * second;
const at = (s: number) => String(begin + BigInt(s) * second);

/** A span that begins at the given second and takes one second. */
function span(start: number, attributes: Fields, fields: Fields = {}) {
  return {
    traceId: "7b1e",
    spanId: `s${start}`,
    name: "span",
    startTimeUnixNano: at(start),
    endTimeUnixNano: at(start + 1),
    attributes: otlpList(attributes),
    ...fields,
  };
}
const text = (content: string) => ({ type: "text", content });
const user = (content: string) => ({ role: "user", parts: [text(content)] });
const callPart = (id: string, cmd: string) => ({ type: "tool_call", id, name: "shell", arguments: { cmd } });
const says = (...parts: unknown[]) => [{ role: "assistant", parts, finish_reason: "stop" }];
const chat = (start: number, input: unknown, output: unknown, more: Fields = {}) =>
  span(start, {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m1",
    "gen_ai.input.messages": JSON.stringify(input),
    "gen_ai.output.messages": JSON.stringify(output),
    ...more,
  });
const tool = (start: number, id: string, cmd: string, result?: unknown, fields: Fields = {}) =>
  span(
    start,
    {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "shell",
      "gen_ai.tool.call.id": id,
      "gen_ai.tool.call.arguments": JSON.stringify({ cmd }),
      ...(result === undefined ? {} : { "gen_ai.tool.call.result": result }),
    },
    fields,
  );
const otlp = (...spans: unknown[]) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const lines = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join("\n");
const action = (cmd: string) => `{"input":{"cmd":"${cmd}"},"tool":"shell"}`;
const stepsOf = ({ samples }: Awaited<ReturnType<typeof importText>>) =>
  samples.map(({ interaction, next_state }) => [interaction?.state, interaction?.action, next_state]);

const told = [user("Find the key.")];
const usage = {
  "gen_ai.usage.input_tokens": 12,
  "gen_ai.usage.output_tokens": 3,
  "gen_ai.usage.cache_read.input_tokens": 4,
};
const run = [
  span(0, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "finder",
    "gen_ai.conversation.id": "conv-1",
  }),
  chat(
    1,
    told,
    says({ type: "reasoning", content: "Look." }, callPart("c1", "ls drawer"), callPart("c2", "ls box")),
    {
      ...usage,
      "gen_ai.system_instructions": JSON.stringify([text("You look for keys.")]),
      "gen_ai.tool.definitions": [{ type: "function", name: "shell" }],
    },
  ),
  tool(3, "c2", "ls box", undefined, { status: { code: 2, message: "no such box" } }),
  tool(2, "c1", "ls drawer", "key.txt\nnails"),
  chat(4, told, says(text("It is in the drawer."))),
  span(5, { "http.request.method": "GET" }),
];

test("every field of samples, from tool spans by start and the chat span that called them", async () => {
  const { samples, figures } = await importText(otlp(...run));
  const common = {
    trajectory_id: "conv-1",
    context: {
      task_context: "Find the key.",
      tool_schemas: '[{"type":"function","name":"shell"}]',
      domain_knowledge: "You look for keys.",
    },
    usage: { prompt_tokens: 12, completion_tokens: 3, cached_tokens: 4 },
  };
  const tags = { source: "otel-genai", model: "m1", agent: "finder" };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "Find the key.", action: action("ls drawer") },
      next_state: "key.txt\nnails",
      at: "2026-01-01T00:00:03.000Z",
      tags,
    },
    {
      ...common,
      step: 1,
      interaction: { state: "key.txt\nnails", action: action("ls box") },
      next_state: "no such box",
      at: "2026-01-01T00:00:04.000Z",
      tags: { ...tags, error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, other_event: 1, reasoning: 1 });
  const joined = await importText(otlp(...run), { step: "turn" });
  expect(joined.samples.map(({ interaction }) => interaction?.action)).toEqual([
    `[${action("ls drawer")},${action("ls box")}]`,
  ]);
});

/** The same spans as other exporters write them. */
function asPython(one: (typeof run)[number]) {
  const attributes = Object.fromEntries(
    one.attributes.map(({ key, value }) => {
      const [inner] = Object.values(value as Fields);
      return [key, typeof inner === "object" ? JSON.stringify([{ type: "function", name: "shell" }]) : inner];
    }),
  );
  const iso = (nanoseconds: string) =>
    new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString().replace("Z", "000Z");
  return {
    name: one.name,
    context: { trace_id: "0x7b1e", span_id: one.spanId, trace_state: "[]" },
    parent_id: null,
    start_time: iso(one.startTimeUnixNano),
    end_time: iso(one.endTimeUnixNano),
    status: "status" in one ? { status_code: "ERROR", description: "no such box" } : { status_code: "UNSET" },
    attributes: { ...attributes, ...("gen_ai.usage.input_tokens" in attributes ? usage : {}) },
    events: [],
  };
}

const nested = ({ attributes, ...one }: (typeof run)[number]) => {
  const gen_ai: Fields = {};
  for (const { key, value } of attributes.filter(({ key }) => key.startsWith("gen_ai."))) {
    const path = key.split(".").slice(1);
    let in_ = gen_ai;
    for (const name of path.slice(0, -1)) {
      in_[name] ??= {};
      in_ = in_[name] as Fields;
    }
    const [inner] = Object.values(value as Fields);
    const isCount = Object.hasOwn(value as Fields, "intValue");
    in_[path.at(-1) as string] = isCount ? Number(inner) : inner;
  }
  return { ...one, attributes: { gen_ai } };
};

const snake = (one: (typeof run)[number]) => ({
  trace_id: one.traceId,
  span_id: one.spanId,
  start_time_unix_nano: one.startTimeUnixNano,
  end_time_unix_nano: one.endTimeUnixNano,
  attributes: one.attributes,
  status: "status" in one ? { code: "STATUS_CODE_ERROR", message: "no such box" } : {},
});

/** A span's attributes and times, and why it failed, for stores that have their own kind of rows. */
function partsOf(one: (typeof run)[number]) {
  const { attributes, start_time, end_time } = asPython(one);
  return { attributes, start_time, end_time, error: "status" in one ? "no such box" : undefined };
}

/** As Braintrust exports logs. Spans from OpenTelemetry have their attributes in `metadata`. */
function asBraintrust(one: (typeof run)[number]) {
  const { attributes, start_time, end_time, error } = partsOf(one);
  return {
    id: one.spanId,
    span_id: one.spanId,
    root_span_id: one.traceId,
    span_parents: null,
    span_attributes: { name: one.name },
    created: start_time,
    metrics: { start: Date.parse(start_time) / 1000, end: Date.parse(end_time) / 1000 },
    error: error ?? null,
    metadata: attributes,
  };
}

/** As PostHog exports events. They say when a span began and how long it took. */
function asPostHog(one: (typeof run)[number]) {
  const { attributes, start_time, error } = partsOf(one);
  const ids = { $ai_trace_id: one.traceId, $ai_span_id: one.spanId, $ai_span_name: one.name };
  const failed = error === undefined ? {} : { $ai_is_error: true, $ai_error: error };
  const properties = { ...ids, ...failed, $ai_latency: 1, ...attributes };
  return { uuid: one.spanId, event: "$ai_span", timestamp: start_time, properties };
}

/** As Mastra stores spans. */
function asMastra(one: (typeof run)[number]) {
  const { attributes, start_time, end_time, error } = partsOf(one);
  return {
    traceId: one.traceId,
    spanId: one.spanId,
    parentSpanId: null,
    name: one.name,
    spanType: "generic",
    startedAt: start_time,
    endedAt: end_time,
    ...(error !== undefined && { error: { message: error } }),
    attributes,
  };
}

for (const [form, file] of Object.entries({
  "Braintrust's rows": lines(...run.map(asBraintrust)),
  "PostHog's events": lines(...run.map(asPostHog)),
  "Mastra's spans": JSON.stringify({ spans: run.map(asMastra) }),
  "lines of Python's to_json": lines(...run.map(asPython)),
  "Python's console exporter": run.map((one) => JSON.stringify(asPython(one), null, 4)).join("\n"),
  "lines of an exporter of files": lines(...run.map((one) => JSON.parse(otlp(one)))),
  "snake case": JSON.stringify({ resource_spans: [{ scope_spans: [{ spans: run.map(snake) }] }] }),
  "an array of spans": JSON.stringify(run),
  "a page of spans": JSON.stringify({ spans: run }),
  "a page of traces": JSON.stringify({ traces: [{ id: "7b1e", spans: run }] }),
  "nested attributes": lines(...run.map(nested)),
}))
  test(`the same samples from ${form}`, async () => {
    const expected = await importText(otlp(...run));
    const found = await importText(file);
    expect(found.figures.format).toBe("otel-genai");
    const hasEnds = form !== "PostHog's events";
    const comparable = ({ samples }: typeof found) =>
      samples.map(({ at, context, ...sample }) => ({
        ...sample,
        at: hasEnds ? at?.slice(0, 19) : undefined,
        context: { ...context, tool_schemas: undefined },
      }));
    expect(comparable(found)).toEqual(comparable(expected));
    expect(found.figures.left_out).toEqual(expected.figures.left_out);
  });

test("without results of tools, the conversation of the last chat span, with what others say of its calls", async () => {
  const history = [
    { role: "system", parts: [text("You look for keys.")] },
    ...told,
    ...says(callPart("c1", "ls drawer")),
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: { files: ["key.txt"] } }] },
  ];
  const thought = { type: "reasoning", content: "In a drawer?" };
  const spans = [
    chat(1, told, says(thought, callPart("c1", "ls drawer")), usage),
    tool(2, "c1", "ls drawer"),
  ];
  const { samples, figures } = await importText(otlp(...spans, chat(3, history, says(text("Done.")))));
  expect(samples).toEqual([
    {
      trajectory_id: "7b1e",
      step: 0,
      context: { task_context: "Find the key.", domain_knowledge: "You look for keys." },
      interaction: { state: "Find the key.", action: action("ls drawer") },
      next_state: '{"files":["key.txt"]}',
      at: "2026-01-01T00:00:03.000Z",
      usage: { prompt_tokens: 12, completion_tokens: 3, cached_tokens: 4 },
      tags: { source: "otel-genai", model: "m1" },
    },
  ]);
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, reasoning: 1 });
});

test("messages on the event of their own, and names and events of older conventions", async () => {
  const called = { id: "c1", type: "function", function: { name: "shell", arguments: '{"cmd":"ls"}' } };
  const event = (name: string, fields: Fields) => ({ name, attributes: otlpList(fields) });
  const content = (fields: Fields) => ({ "gen_ai.event.content": JSON.stringify(fields) });
  const old = {
    "gen_ai.system": "openai",
    "gen_ai.request.model": "m1",
    "gen_ai.usage.prompt_tokens": 12,
    "gen_ai.usage.completion_tokens": 3,
  };
  const events = [
    event("gen_ai.system.message", content({ content: "You look for keys." })),
    event("gen_ai.user.message", { content: "Find the key." }),
    event("gen_ai.assistant.message", content({ tool_calls: [called] })),
    event("gen_ai.tool.message", content({ id: "c1", content: "key.txt" })),
    event("gen_ai.choice", content({ index: 0, message: { content: "Done." } })),
  ];
  const inputs = [user("Find the key."), ...says(callPart("c1", "ls"))];
  const answer = { role: "tool", parts: [{ type: "tool_call_response", id: "c1", result: "key.txt" }] };
  const details = event("gen_ai.client.inference.operation.details", {
    "gen_ai.input.messages": [...inputs, answer],
    "gen_ai.output.messages": says(text("Done.")),
    "gen_ai.system_instructions": [text("You look for keys.")],
  });
  const numbered = {
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "You look for keys.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "Find the key.",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "shell",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"cmd":"ls"}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "key.txt",
    "gen_ai.completion.0.content": "Done.",
  };
  for (const one of [
    span(1, { "gen_ai.operation.name": "chat" }, { events: [details] }),
    span(1, old, { events }),
    span(1, { ...old, ...numbered }),
  ]) {
    const found = await importText(otlp(one));
    expect(stepsOf(found)).toEqual([["Find the key.", action("ls"), "key.txt"]]);
    expect(found.samples[0]?.context).toEqual({
      task_context: "Find the key.",
      domain_knowledge: "You look for keys.",
    });
    expect(found.figures.left_out).toEqual({ last_message_of_agent: 1 });
  }
  const { samples } = await importText(
    otlp(
      span(1, { ...old, ...numbered, "gen_ai.completion.0.tool_calls.0.name": "shell" }),
      tool(2, "", "ls", "x"),
    ),
  );
  expect(samples[0]?.usage).toEqual({ prompt_tokens: 12, completion_tokens: 3 });
});

test("traces of one conversation are one trajectory, whose user speaks between them", async () => {
  const conversation = { "gen_ai.conversation.id": "conv-1" };
  const more = [...told, ...says(text("Which key?")), user("The small one.")];
  const spans = [
    chat(1, told, says(text("Which key?")), conversation),
    { ...chat(2, more, says(callPart("c1", "ls")), conversation), traceId: "other" },
    { ...tool(3, "c1", "ls", "key.txt"), traceId: "other" },
    { ...tool(9, "c9", "pwd", "/home"), traceId: "third" },
  ];
  const found = await importText(lines(...spans.toReversed()));
  expect(found.samples.map(({ trajectory_id }) => trajectory_id)).toEqual(["third", "conv-1", "conv-1"]);
  expect(stepsOf(found)).toEqual([
    ["(start)", action("pwd"), "/home"],
    ["Find the key.", "Which key?", "The small one."],
    ["The small one.", action("ls"), "key.txt"],
  ]);
});

test("conversations under one trace are told apart by what their spans are a part of", async () => {
  const agent = (id: number) =>
    span(id, { "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": `conv-${id}` });
  const spans = [1, 2].flatMap((id) => [
    agent(id),
    tool(id + 4, "c", `ls ${id}`, "x", { parentSpanId: `s${id}` }),
  ]);
  const { samples } = await importText(otlp(...spans));
  expect(samples.map(({ trajectory_id, interaction }) => [trajectory_id, interaction?.action])).toEqual([
    ["conv-1", action("ls 1")],
    ["conv-2", action("ls 2")],
  ]);
});

test("an agent's own messages count if no chat span has any", async () => {
  const agent = span(0, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.input.messages": JSON.stringify(told),
    "gen_ai.output.messages": JSON.stringify(says(text("Done."))),
  });
  const found = await importText(otlp(agent, tool(0, "c1", "ls", "key.txt")));
  expect(stepsOf(found)).toEqual([["Find the key.", action("ls"), "key.txt"]]);
  expect(found.figures.left_out).toEqual({ last_message_of_agent: 1 });
});

test("a span without a trace is a fault, and odd values are passed over", async () => {
  const { traceId: _, ...bare } = tool(1, "c1", "ls", "x");
  expect(importText(lines(tool(1, "c1", "ls", "x"), bare))).rejects.toMatchObject({
    faults: [{ line: 2, path: ["traceId"], reason: "Field required" }],
  });
  const odd: Fields[] = [1, null, "x", [], [null, 1], {}].flatMap((value) => [
    {
      ...tool(1, "c1", "ls", "x"),
      status: value,
      events: value,
      startTimeUnixNano: value,
      parentSpanId: value,
    },
    {
      traceId: "7b1e",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": value,
        "gen_ai.output.messages": value,
        "gen_ai.system_instructions": value,
        "gen_ai.tool.definitions": value,
        "gen_ai.usage.input_tokens": value,
        "gen_ai.request.model": value,
      },
    },
    { traceId: "7b1e", attributes: value },
  ]);
  const { samples } = await importText(lines(...odd));
  expect(samples).toHaveLength(6);
});

test("a file that OpenTelemetry's own exporter of files wrote", async () => {
  const file = Bun.file(new URL("otel-genai.fixture.json", import.meta.url));
  const { samples, figures } = await importText(await file.text());
  expect(
    samples.map(({ interaction, next_state, tags }) => [interaction?.action, next_state, tags?.error]),
  ).toEqual([
    [action("ls drawer"), "key.txt\nnails", undefined],
    [action("ls box"), "no such box", "true"],
  ]);
  expect(figures).toMatchObject({ with: { time: 2, usage: 2 }, left_out: { reasoning: 1 } });
});

test("a span's end is told to the nanosecond", async () => {
  const ends = [begin, begin + 1_000n, begin + 1_500_000_001n].map(String);
  const spans = ends.map((endTimeUnixNano, index) =>
    tool(index, `c${index}`, "ls", "x", { endTimeUnixNano }),
  );
  expect((await importText(otlp(...spans))).samples.map((one) => one.at)).toEqual([
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.000001Z",
    "2026-01-01T00:00:01.500000001Z",
  ]);
});

test("messages that calls repeat are read once, with the same result as if each call's were read", async () => {
  const answer = (id: string, response: string) => ({
    role: "tool",
    parts: [{ type: "tool_call_response", id, response }],
  });
  const odd = { role: "user", parts: [{ type: "unknown" }] };
  const calls = (trace: string, system: string, other: string) => {
    const first = [...told, odd];
    const second = [...first, ...says(callPart("a", `ls ${trace}`)), answer("a", "key.txt")];
    const third = [...second, ...says(text("Found?")), user(`Yes, in ${other}.`)];
    const instructions = { "gen_ai.system_instructions": JSON.stringify([text(system)]) };
    return [first, second, second, third, [user("Anew."), ...third.slice(1)]].map((input, index) => ({
      ...chat(index * 2, input, says(callPart(`c${index}`, "ls")), index === 3 ? {} : instructions),
      traceId: trace,
      spanId: `${trace}${index}`,
    }));
  };
  const one = calls("t1", "Be brief.", "a drawer");
  const other = calls("t2", "Be exact.", "a box");
  const spans = one.flatMap((span, index) => [span, ...other.slice(index, index + 1)]);
  for (const result of [undefined, "done"]) {
    const tools = result === undefined ? [] : [{ ...tool(1, "c0", "ls", result), traceId: "t1" }];
    const repeated = otlp(...spans, ...tools);
    // A list that begins with a space is read from scratch each time.
    const anew = repeated.replaceAll('"[{\\"role\\":\\"user\\"', '"[ {\\"role\\":\\"user\\"');
    expect(anew).not.toBe(repeated);
    const [read, expected] = [await importText(repeated), await importText(anew)];
    expect(read.samples.length).toBeGreaterThan(2);
    expect(read).toEqual(expected);
  }
});

test("calls that no tool and no last message answers are counted", async () => {
  const titled = chat(9, [user("Name it.")], says(text("The key")));
  const calls = says(callPart("c1", "ls"), callPart("c2", "pwd"));
  const { samples, figures } = await importText(
    otlp(chat(1, told, calls), tool(2, "c1", "ls"), tool(3, "c3", "cat"), titled),
  );
  expect(samples).toEqual([]);
  expect(figures.left_out).toEqual({ call_without_answer: 3, last_message_of_agent: 1 });
});
