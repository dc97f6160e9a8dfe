import { fieldAt, isObject, type LeftOut, textIn } from "../content.ts";
import { looseAnswer, looseTurns } from "../loose-messages.ts";
import { usageIn } from "../messages.ts";
import type { SpanItem } from "../span-turns.ts";
import { listAt, parsed, type Span } from "../span-values.ts";
import type { Turn } from "../turns.ts";

/** What is kept of a span with `gen_ai.*` attributes, or of another of its trace. */
export interface GenAiItem extends SpanItem {
  trace: string;
  id: string | undefined;
  parent: string | undefined;
  conversation: string | undefined;
  /** Whether its messages are those of an agent as a whole. */
  isAgents?: boolean;
}

type Fields = Record<string, unknown>;

const modelOperation = /^(chat|generate_content|text_completion|completion)$/;
const agentOperation = /agent|workflow/;

/** The name of the event that has a span's messages, if the span has not. */
const details = "gen_ai.client.inference.operation.details";

export function genAiItems(span: Span, leftOut: LeftOut): GenAiItem[] {
  const { start, trace, id, parent } = span;
  const event = span.events.find(({ name }) => name === details)?.attributes;
  const attributes = event === undefined ? span.attributes : { ...event, ...span.attributes };
  const operation = textIn(attributes, "gen_ai.operation.name");
  const conversation = textIn(attributes, "gen_ai.conversation.id");
  const place = { start, trace, id, parent, conversation };
  const item: GenAiItem = {
    ...place,
    tools: parsed(fieldAt(attributes, "gen_ai.tool.definitions")) ?? undefined,
    agent: textIn(attributes, "gen_ai.agent.name"),
  };
  const name = textIn(attributes, "gen_ai.tool.name");
  if (operation === "execute_tool" || (operation === undefined && name !== undefined))
    return [{ ...item, tool: toolOf(span, name ?? span.name.replace(/^execute_tool /, "")) }];
  const isAgents = operation !== undefined && agentOperation.test(operation);
  const isModels = operation === undefined ? isOfModel(span) : modelOperation.test(operation);
  if (!isAgents && !isModels) {
    leftOut.count("other_event");
    return [item];
  }
  const model = modelOf(attributes, span.events, leftOut);
  if (!isAgents) return [{ ...item, model }];
  if (model.input.length === 0 && model.output === undefined) return [item];
  // An agent says what it says when it has ended.
  const said = { ...place, start: span.endOrder, isAgents };
  return [
    item,
    { ...place, isAgents, model: { input: model.input } },
    { ...said, model: { input: [], output: model.output } },
  ];
}

/** Whether a span without an operation calls a model, as those of older conventions do. */
function isOfModel({ attributes, events }: Span): boolean {
  return (
    fieldAt(attributes, "gen_ai.system") !== undefined ||
    fieldAt(attributes, "gen_ai.request.model") !== undefined ||
    events.some(({ name }) => name.startsWith("gen_ai."))
  );
}

function toolOf(
  { attributes, isError, message, end: at }: Span,
  name: string,
): NonNullable<SpanItem["tool"]> {
  return {
    call: {
      id: textIn(attributes, "gen_ai.tool.call.id"),
      name,
      input: fieldAt(attributes, "gen_ai.tool.call.arguments") ?? undefined,
    },
    result: fieldAt(attributes, "gen_ai.tool.call.result") ?? (isError ? message : undefined),
    isError,
    at,
  };
}

function modelOf(
  attributes: Fields,
  events: Span["events"],
  leftOut: LeftOut,
): NonNullable<SpanItem["model"]> {
  const told = messagesOf(attributes, ["gen_ai.input.messages", "gen_ai.prompt"], leftOut);
  const answered = messagesOf(attributes, ["gen_ai.output.messages", "gen_ai.completion"], leftOut);
  const old = messagesOfEvents(events);
  const instructions = parsed(fieldAt(attributes, "gen_ai.system_instructions"));
  const system: Turn[] =
    instructions === undefined || instructions === null
      ? []
      : looseTurns(
          [{ role: "system", [Array.isArray(instructions) ? "parts" : "content"]: instructions }],
          leftOut,
        );
  const output = looseAnswer(answered.length > 0 ? answered : old.answered, leftOut);
  const usage = usageIn(attributes, {
    prompt_tokens: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    completion_tokens: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    cached_tokens: "gen_ai.usage.cache_read.input_tokens",
  });
  const model = textIn(attributes, "gen_ai.response.model") ?? textIn(attributes, "gen_ai.request.model");
  return {
    input: [...system, ...looseTurns(told.length > 0 ? told : old.told, leftOut)],
    output: output && { ...output, usage, model },
  };
}

/** The messages in the first of these attributes: a list, or fields with numbers as older conventions had. One cut off is counted. */
function messagesOf(attributes: Fields, names: readonly string[], leftOut: LeftOut): unknown[] {
  for (const name of names) {
    const found = listAt(attributes, name).map((message) =>
      isObject(message) && !Array.isArray(message.parts)
        ? { ...message, tool_calls: listAt(message, "tool_calls") }
        : message,
    );
    if (found.length > 0) return found;
    if (textIn(attributes, name) !== undefined) leftOut.count("other_event");
  }
  return [];
}

/** The messages of events, as older conventions have them: one for each message. */
function messagesOfEvents(events: Span["events"]): { told: unknown[]; answered: unknown[] } {
  const told: unknown[] = [];
  const answered: unknown[] = [];
  for (const { name, attributes } of events) {
    const inner = parsed(attributes["gen_ai.event.content"] ?? attributes.body);
    const body = isObject(inner) ? inner : attributes;
    const [, kind] = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name) ?? [];
    const given = isObject(parsed(body.message)) ? (parsed(body.message) as Fields) : body;
    const message = { ...given, content: given.content, tool_calls: listAt(given, "tool_calls") };
    if (kind !== undefined) told.push({ ...message, role: kind });
    else if (name === "gen_ai.choice") answered.push({ ...message, role: "assistant" });
    else if (name === "gen_ai.content.prompt") told.push(...listAt(body, "gen_ai.prompt"));
    else if (name === "gen_ai.content.completion") answered.push(...listAt(body, "gen_ai.completion"));
  }
  return { told, answered };
}
