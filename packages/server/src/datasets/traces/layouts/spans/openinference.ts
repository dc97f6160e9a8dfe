import { exactIn, fieldAt, type LeftOut, refIn, textIn } from "../../content.ts";
import type { Layout, TraceDocument } from "../../layout.ts";
import { usageIn } from "../../messages.ts";
import { firstUserIn, looseCall, toolAnswer } from "./loose-messages.ts";
import { type SpanItem, type TraceItem, traceReader } from "./span-turns.ts";
import { attributesOf, hasSpans, listAt, parsed, type Span, spansIn, spanValues } from "./span-values.ts";

const kindName = "openinference.span.kind";

/** Spans with OpenInference's attributes, as Phoenix and its instrumentations have them. */
export const openInference: Layout = {
  format: "openinference",
  version: 2,
  about: {
    title: "OpenInference spans",
    recognised_by:
      "spans with `openinference.span.kind`, or with `span_kind` and `context.trace_id`; MLflow's traces (`mlflow.spanType`)",
    trajectory: "the spans of one trace; `trace_id`",
    action: "spans of kind `TOOL`, by start: `tool.name`, `input.value`",
    answer: "`output.value`; status `ERROR` is an error",
    context:
      "first user of `llm.input_messages`, else the root's `input.value`; `llm.tools`; the system message",
    also: "time from the span's end; `llm.token_count.prompt` and `completion` of the LLM span that made the call; rows of Braintrust, PostHog and Mastra that carry these attributes",
    left_out: "retrievals, documents, embeddings",
    example: `{"name":"shell","context":{"trace_id":"0x7b1e","span_id":"0x01"},"parent_id":null,"start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:01Z","status":{"status_code":"OK"},"attributes":{"openinference.span.kind":"TOOL","tool.name":"shell","input.value":"{\\"cmd\\":\\"ls drawer\\"}","output.value":"key.txt"}}`,
  },
  recognises(document) {
    if (!hasSpans(document)) return undefined;
    for (const [span] of spanValues(document)) {
      if (fieldAt(attributesOf(span), kindName) !== undefined) return `spans with ${kindName}`;
      if (fieldAt(span, "context.trace_id") !== undefined && textIn(span, "span_kind") !== undefined)
        return "spans with span_kind and context.trace_id";
    }
    return undefined;
  },
  admits: hasSpans,
  open: ({ leftOut }) => traceReader((document) => itemsOf(document, leftOut), leftOut),
};

function itemsOf(document: TraceDocument, leftOut: LeftOut): TraceItem[] {
  return spansIn(document).map((span) => {
    const { attributes, start, trace } = span;
    const kind = (textIn(attributes, kindName) ?? textIn(span.value, "span_kind") ?? "").toUpperCase();
    const item: TraceItem = { start, trace, agent: textIn(attributes, "agent.name") };
    if (kind === "TOOL") return { ...item, tool: toolOf(span) };
    if (kind === "LLM") Object.assign(item, modelOf(span, leftOut));
    else if (kind !== "AGENT" && kind !== "CHAIN") leftOut.count("other_event");
    const value = span.parent === undefined ? fieldAt(attributes, "input.value") : undefined;
    const told = value === undefined ? undefined : (firstUserIn(value) ?? value);
    return typeof told === "string" && told !== "" ? { ...item, input: told } : item;
  });
}

function toolOf({ attributes, name, isError, message, end }: Span): NonNullable<SpanItem["tool"]> {
  return {
    call: {
      id: refIn(attributes, "tool.id") ?? refIn(attributes, "tool_call.id"),
      name: textIn(attributes, "tool.name") ?? name,
      input: fieldAt(attributes, "input.value") ?? undefined,
    },
    result: toolAnswer(exactIn(attributes, "output.value")).content ?? (isError ? message : undefined),
    isError,
    at: end,
  };
}

function modelOf({ attributes }: Span, leftOut: LeftOut): Pick<SpanItem, "model" | "tools"> {
  const told = listAt(attributes, "llm.input_messages").map(messageOf);
  const answered = listAt(attributes, "llm.output_messages").map(messageOf);
  // A text-completion model has no messages.
  const input = told.length > 0 ? told : parsed(fieldAt(attributes, "input.value"));
  const answer = answered.length > 0 ? answered : fieldAt(attributes, "output.value");
  const usage = usageIn(attributes, {
    prompt_tokens: "llm.token_count.prompt",
    completion_tokens: "llm.token_count.completion",
  });
  const tools = listAt(attributes, "llm.tools").map(
    (tool) => parsed(fieldAt(tool, "tool.json_schema")) ?? tool,
  );
  return {
    model: looseCall(input, answer, { usage, model: textIn(attributes, "llm.model_name") }, leftOut),
    tools: tools.length > 0 ? tools : undefined,
  };
}

/** A message in OpenAI's form. */
function messageOf(message: unknown): Record<string, unknown> {
  const contents = listAt(message, "message.contents");
  const content = fieldAt(message, "message.content");
  const name = textIn(message, "message.function_call_name");
  const old = { name, arguments: fieldAt(message, "message.function_call_arguments_json") };
  return {
    role: textIn(message, "message.role"),
    content: contents.length > 0 && (content ?? "") === "" ? contents.map(partOf) : content,
    tool_calls: listAt(message, "message.tool_calls").map((call) => ({
      function: callOf(call),
      ...callOf(call),
    })),
    tool_call_id: refIn(message, "message.tool_call_id"),
    ...(name === undefined ? {} : { function_call: old }),
  };
}

function callOf(call: unknown) {
  return {
    id: refIn(call, "tool_call.id"),
    name: textIn(call, "tool_call.function.name"),
    arguments: fieldAt(call, "tool_call.function.arguments"),
  };
}

function partOf(part: unknown): Record<string, unknown> {
  const type = textIn(part, "message_content.type") ?? "text";
  const { id, name, arguments: input } = callOf(part);
  return type === "tool_use"
    ? { type, id, name, input }
    : { type, text: textIn(part, "message_content.text") ?? "" };
}
