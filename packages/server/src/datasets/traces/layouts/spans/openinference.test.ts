import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

type Fields = Record<string, unknown>;

/** Spans recorded by OpenInference's own decorators and helpers, as OpenTelemetry's SDK writes them. */
const file = await Bun.file(new URL("openinference.fixture.jsonl", import.meta.url)).text();
const spans: Fields[] = file
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const lines = (...values: unknown[]) => values.map((one) => JSON.stringify(one)).join("\n");
const action = (input: unknown) => JSON.stringify({ input, tool: "shell" });

test("every field of samples, from tool spans and the LLM span that called them", async () => {
  const { samples, figures } = await importText(file);
  const common = {
    trajectory_id: "0xcef1141a0e61049a99933dba4a0681d2",
    context: {
      task_context: "Find the key.",
      tool_schemas: '[{"type":"function","function":{"name":"shell"}}]',
      domain_knowledge: "You look for keys.",
    },
    usage: { prompt_tokens: 12, completion_tokens: 3 },
  };
  const tags = { source: "openinference", model: "m1" };
  expect(samples).toEqual([
    {
      ...common,
      step: 0,
      interaction: { state: "Find the key.", action: action({ cmd: "ls drawer" }) },
      next_state: "key.txt\nnails",
      at: "2026-11-28T13:29:15.339175Z",
      tags,
    },
    {
      ...common,
      step: 1,
      interaction: { state: "key.txt\nnails", action: action({ cmd: "ls box" }) },
      next_state: "OSError: no such box",
      at: "2026-11-28T13:29:15.341150Z",
      tags: { ...tags, error: "true" },
    },
  ]);
  expect(figures.left_out).toEqual({ text_beside_call: 1 });
});

const kindOf = (span: Fields) => (span.attributes as Fields)["openinference.span.kind"];
const statusOf = (span: Fields) => span.status as Fields;

/** As Phoenix's API returns it, with nested attributes. */
function nested(span: Fields): Fields {
  const inner: Fields = {};
  for (const [key, value] of Object.entries(span.attributes as Fields)) {
    const path = key.split(".");
    let at = inner;
    for (const name of path.slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Fields;
    }
    at[path.at(-1) as string] = value;
  }
  const { status_code, description } = statusOf(span);
  return {
    ...span,
    status: undefined,
    status_code,
    status_message: description ?? "",
    span_kind: kindOf(span),
    attributes: inner,
  };
}

const messages = (span: Fields, name: string) =>
  [0, 1].flatMap((index) => {
    const found = Object.entries(span.attributes as Fields).flatMap(([key, value]) => {
      const start = `llm.${name}.${index}.`;
      return key.startsWith(start) ? [[key.slice(start.length), value]] : [];
    });
    return found.length === 0 ? [] : [Object.fromEntries(found)];
  });

/** A row of Phoenix's table, whose columns are named after the attributes, with lists of messages. */
function row(span: Fields): Fields {
  const columns = Object.entries(span.attributes as Fields).flatMap(([key, value]) =>
    /^llm\.(in|out)put_messages/.test(key) || key === "openinference.span.kind"
      ? []
      : [[`attributes.${key}`, value]],
  );
  const { trace_id, span_id } = span.context as Fields;
  return {
    name: span.name,
    span_kind: kindOf(span),
    parent_id: span.parent_id,
    start_time: Date.parse(span.start_time as string) + (kindOf(span) === "TOOL" ? 1 : 0),
    end_time: span.end_time,
    status_code: statusOf(span).status_code,
    status_message: statusOf(span).description,
    "context.trace_id": trace_id,
    "context.span_id": span_id,
    ...Object.fromEntries(columns),
    "attributes.llm.input_messages": messages(span, "input_messages"),
    "attributes.llm.output_messages": messages(span, "output_messages"),
  };
}

/** In the form of OTLP. */
function otlp(span: Fields): Fields {
  const { trace_id, span_id } = span.context as Fields;
  const attributes = Object.entries(span.attributes as Fields).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
  const { description: message } = statusOf(span);
  return {
    traceId: trace_id,
    spanId: span_id,
    parentSpanId: span.parent_id ?? undefined,
    name: span.name,
    startTimeUnixNano: `${Date.parse(span.start_time as string)}000000`,
    endTimeUnixNano: `${Date.parse(span.end_time as string)}000000`,
    status: message === undefined ? { code: 1 } : { code: 2, message },
    attributes,
  };
}

const idsOf = (span: Fields) => span.context as { trace_id: string; span_id: string };

/** As Braintrust exports logs, Mastra stores spans, and PostHog exports events. */
const rows = {
  braintrust: ({ attributes, parent_id, start_time, end_time, ...span }: Fields) => ({
    ...{ id: idsOf(span).span_id, span_id: idsOf(span).span_id, root_span_id: idsOf(span).trace_id },
    ...{ span_parents: parent_id === null ? null : [parent_id], created: start_time, metadata: attributes },
    metrics: { start: Date.parse(String(start_time)) / 1000, end: Date.parse(String(end_time)) / 1000 },
    error: statusOf(span).description ?? null,
  }),
  mastra: ({ attributes, parent_id, start_time, end_time, name, ...span }: Fields) => ({
    ...{ traceId: idsOf(span).trace_id, spanId: idsOf(span).span_id, parentSpanId: parent_id },
    ...{ name, spanType: "generic", startedAt: start_time, endedAt: end_time, attributes },
    error: statusOf(span).description ? { message: statusOf(span).description } : null,
  }),
  postHog: ({ attributes, parent_id, start_time: timestamp, ...span }: Fields) => ({
    ...{ event: "$ai_span", timestamp },
    properties: {
      ...{ $ai_trace_id: idsOf(span).trace_id, $ai_span_id: idsOf(span).span_id, $ai_parent_id: parent_id },
      ...(statusOf(span).description !== undefined && { $ai_error: statusOf(span).description }),
      ...(attributes as Fields),
    },
  }),
};

for (const [form, text] of Object.entries({
  "Braintrust's rows": lines(...spans.map(rows.braintrust)),
  "Mastra's spans": JSON.stringify({ spans: spans.map(rows.mastra) }),
  "PostHog's events": lines(...spans.map(rows.postHog)),
  "nested attributes": lines(...spans.map(nested)),
  "a page of the API": JSON.stringify({ data: spans.map(nested), next_cursor: null }),
  "rows of a table": JSON.stringify(spans.map(row)),
  OTLP: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: spans.map(otlp) }] }] }),
  "OTLP beside spans of others": lines(
    { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: "http", attributes: [] }] }] }] },
    { resourceSpans: [{ scopeSpans: [{ spans: spans.map(otlp) }] }] },
  ),
}))
  test(`the same samples from ${form}`, async () => {
    const expected = await importText(file);
    const found = await importText(text);
    expect(found.figures.format).toBe("openinference");
    const comparable = ({ samples }: typeof found) =>
      samples.map(({ at, ...sample }) => ({
        ...sample,
        // PostHog's events have no end.
        at: form === "PostHog's events" ? undefined : at?.slice(0, 19),
      }));
    expect(comparable(found)).toEqual(comparable(expected));
  });

const at = (second: number) => new Date(1_767_225_600_000 + second * 1000).toISOString();
const span = (start: number, kind: string, attributes: Fields, fields: Fields = {}) => ({
  name: "shell",
  context: { trace_id: "t1", span_id: `s${start}` },
  parent_id: "root",
  start_time: at(start),
  end_time: at(start + 1),
  attributes: { "openinference.span.kind": kind, ...attributes },
  ...fields,
});

test("without LLM spans the root's input is the task, and other kinds are counted", async () => {
  for (const input of ["Find the key.", '{"messages":[{"role":"user","content":"Find the key."}]}']) {
    const { samples, figures } = await importText(
      lines(
        span(1, "CHAIN", { "input.value": input, "agent.name": "finder" }, { parent_id: null }),
        span(2, "RETRIEVER", { "input.value": "keys", "retrieval.documents.0.document.content": "x" }),
        span(3, "TOOL", { "input.value": "{'cmd': 'ls'}", "output.value": '{"b": 1, "a": 2}' }),
      ),
    );
    expect(samples).toMatchObject([
      {
        context: { task_context: "Find the key." },
        interaction: { state: "Find the key.", action: action("{'cmd': 'ls'}") },
        next_state: '{"b": 1, "a": 2}',
        tags: { agent: "finder" },
      },
    ]);
    expect(figures.left_out).toEqual({ other_event: 1 });
  }
});

test("content parts, and the conversation of the last LLM span if no tool span has an answer", async () => {
  const message = (index: number, fields: Fields) =>
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [`llm.input_messages.${index}.message.${key}`, value]),
    );
  const attributes = {
    ...message(0, {
      role: "user",
      "contents.0.message_content.type": "text",
      "contents.0.message_content.text": "Find ",
      "contents.1.message_content.type": "image",
      "contents.1.message_content.image.image.url": "https://example.com/a.png",
    }),
    ...message(1, {
      role: "assistant",
      "contents.0.message_content.type": "reasoning",
      "contents.0.message_content.text": "Look.",
      "contents.1.message_content.type": "tool_use",
      "contents.1.tool_call.id": "c1",
      "contents.1.tool_call.function.name": "shell",
      "contents.1.tool_call.function.arguments": '{"cmd":"ls"}',
    }),
    ...message(2, { role: "tool", tool_call_id: "c1", content: "key.txt" }),
    ...message(3, {
      role: "assistant",
      function_call_name: "shell",
      function_call_arguments_json: '{"cmd":"pwd"}',
    }),
    ...message(4, { role: "function", name: "shell", content: "/home" }),
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Done.",
  };
  const { samples, figures } = await importText(lines(span(1, "LLM", attributes)));
  expect(samples.map(({ interaction, next_state }) => [interaction?.action, next_state])).toEqual([
    [action({ cmd: "ls" }), "key.txt"],
    [action({ cmd: "pwd" }), "/home"],
  ]);
  expect(samples[0]?.interaction?.state).toBe("Find [image]");
  expect(figures.left_out).toEqual({ last_message_of_agent: 1, media: 1, reasoning: 1 });
});

test("a span without a trace is a fault, and odd values are passed over", async () => {
  expect(importText(lines(span(1, "TOOL", {}), span(1, "TOOL", {}, { context: 1 })))).rejects.toMatchObject({
    faults: [{ line: 2, path: ["traceId"], reason: "Field required" }],
  });
  const odd = [1, null, "x", [], [null, 1], {}, { 0: 1 }].flatMap((value) => [
    span(1, "TOOL", { "tool.name": value, "input.value": value, "output.value": "x" }, { start_time: value }),
    span(2, "LLM", {
      "llm.input_messages": value,
      "llm.output_messages": value,
      "llm.tools": value,
      "llm.token_count.prompt": value,
      "llm.input_messages.0.message.role": value,
      "llm.input_messages.0.message.tool_calls": value,
    }),
    span(3, "CHAIN", { "input.value": value }, { parent_id: value, status: value, events: value }),
    { context: { trace_id: "t1" }, span_kind: value, attributes: value },
  ]);
  expect((await importText(lines(...odd))).samples).toHaveLength(7);
});

test("MLflow's traces are read by the same names", async () => {
  const user = { role: "user", content: "Find the key." };
  const call = { id: "c1", type: "function", function: { name: "shell", arguments: '{"cmd":"ls"}' } };
  const of = (second: number, type: string, inputs: unknown, outputs: unknown, more: object = {}) => ({
    ...{
      trace_id: "t1",
      span_id: `s${second}`,
      parent_span_id: second === 0 ? null : "s0",
      name: type.toLowerCase(),
    },
    ...{ start_time_unix_nano: (1767225600 + second) * 1e9, end_time_unix_nano: (1767225601 + second) * 1e9 },
    status: { code: "STATUS_CODE_OK" },
    attributes: {
      "mlflow.spanType": JSON.stringify(type),
      "mlflow.spanInputs": JSON.stringify(inputs),
      "mlflow.spanOutputs": JSON.stringify(outputs),
      ...more,
    },
  });
  const usage = { "mlflow.chat.tokenUsage": JSON.stringify({ input_tokens: 12, output_tokens: 5 }) };
  const tools = [{ type: "function", function: { name: "shell" } }];
  const answer = { choices: [{ message: { role: "assistant", content: null, tool_calls: [call] } }] };
  const trace = {
    info: { trace_id: "tr-1", state: "OK" },
    data: {
      spans: [
        of(0, "AGENT", { question: "Find the key." }, "In the drawer."),
        of(1, "CHAT_MODEL", { model: "m-1", messages: [user], tools }, answer, usage),
        {
          ...of(2, "TOOL", { cmd: "ls" }, { type: "tool", content: "key.txt", tool_call_id: "c1" }),
          name: "shell",
        },
      ],
    },
  };
  const { samples, figures } = await importText(JSON.stringify(trace));
  expect(figures.files).toMatchObject([{ format: "openinference" }]);
  expect(samples).toEqual([
    {
      trajectory_id: "t1",
      step: 0,
      context: {
        task_context: "Find the key.",
        tool_schemas: JSON.stringify(tools),
      },
      interaction: { state: "Find the key.", action: '{"input":{"cmd":"ls"},"tool":"shell"}' },
      next_state: "key.txt",
      at: "2026-01-01T00:00:03.000Z",
      usage: { prompt_tokens: 12, completion_tokens: 5 },
      tags: { source: "openinference", model: "m-1" },
    },
  ]);
});
