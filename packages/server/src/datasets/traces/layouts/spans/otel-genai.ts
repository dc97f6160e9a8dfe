import { randomInt } from "node:crypto";
import { exactIn, fieldAt, isObject, LeftOut, listIn, refIn, textIn } from "../../content.ts";
import type { Layout, TraceDocument } from "../../layout.ts";
import { usageIn } from "../../messages.ts";
import type { Turn } from "../../turns.ts";
import { looseAnswer, looseTurns } from "./loose-messages.ts";
import { type SpanItem, spanReader, traceOfSpans } from "./span-turns.ts";
import { attributesOf, hasSpans, listAt, parsed, type Span, spansIn, spanValues } from "./span-values.ts";

/** What is kept of a span with `gen_ai.*` attributes, or of another span in its trace. */
interface GenAiItem extends SpanItem {
  /** The number by which later spans of the trace can refer to this span's input. */
  number?: number | undefined;
  /** The number of the span whose input this span's input begins with. */
  follows?: number | undefined;
  trace: string;
  id: string | undefined;
  parent: string | undefined;
  conversation: string | undefined;
  /** Whether its messages are those of a whole agent. */
  isAgents?: boolean;
}

type Fields = Record<string, unknown>;

const modelOperation = /^(chat|generate_content|text_completion|completion)$/;
const agentOperation = /agent|workflow/;

/** The event that has a span's messages if the span itself does not. */
const details = "gen_ai.client.inference.operation.details";

function genAiItems(span: Span, leftOut: LeftOut, inputs: ReturnType<typeof createInputs>): GenAiItem[] {
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
  const shared = isAgents ? undefined : inputs.read(trace, attributes);
  if (shared !== undefined) leftOut.add(shared.leftOut);
  const model = modelOf(attributes, span.events, leftOut, shared?.turns);
  if (!isAgents) return [{ ...item, number: shared?.number, follows: shared?.follows, model }];
  if (model.input.length === 0 && model.output === undefined) return [item];
  // An agent's output comes when it has ended.
  const said = { ...place, start: span.endOrder, isAgents };
  return [
    item,
    { ...place, isAgents, model: { input: model.input } },
    { ...said, model: { input: [], output: model.output } },
  ];
}

/** Whether a span without an operation calls a model, as in older conventions. */
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
      id: refIn(attributes, "gen_ai.tool.call.id"),
      name,
      input: fieldAt(attributes, "gen_ai.tool.call.arguments") ?? undefined,
    },
    result: exactIn(attributes, "gen_ai.tool.call.result") ?? (isError ? message : undefined),
    isError,
    at,
  };
}

function modelOf(
  attributes: Fields,
  events: Span["events"],
  leftOut: LeftOut,
  input?: Turn[],
): NonNullable<SpanItem["model"]> {
  const answered = messagesOf(attributes, ["gen_ai.output.messages", "gen_ai.completion"], leftOut);
  const old = messagesOfEvents(events);
  const told = input ?? inputOf(attributes, old.told, leftOut);
  const output = looseAnswer(answered.length > 0 ? answered : old.answered, leftOut);
  const usage = usageIn(attributes, {
    prompt_tokens: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    completion_tokens: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    cached_tokens: "gen_ai.usage.cache_read.input_tokens",
  });
  const model = textIn(attributes, "gen_ai.response.model") ?? textIn(attributes, "gen_ai.request.model");
  return {
    input: told,
    output: output && { ...output, usage, model },
  };
}

function inputOf(attributes: Fields, old: readonly unknown[], leftOut: LeftOut): Turn[] {
  const told = messagesOf(attributes, [inputMessages, "gen_ai.prompt"], leftOut);
  return [...systemOf(attributes, leftOut), ...looseTurns(told.length > 0 ? told : old, leftOut)];
}

function systemOf(attributes: Fields, leftOut: LeftOut): Turn[] {
  const instructions = parsed(fieldAt(attributes, systemInstructions));
  if (instructions === undefined || instructions === null) return [];
  const name = Array.isArray(instructions) ? "parts" : "content";
  return looseTurns([{ role: "system", [name]: instructions }], leftOut);
}

const inputMessages = "gen_ai.input.messages";
const systemInstructions = "gen_ai.system_instructions";

/** A model's input. An earlier span of the trace may have its beginning. */
interface SharedInput {
  number: number;
  follows: number | undefined;
  /** The turns after those of the span that it follows. */
  turns: Turn[];
  /** Counts for the whole input. */
  leftOut: LeftOut;
}

/** The most traces, recorded in parallel, whose last input is remembered. */
const maxRemembered = 1_000;

/** The input of a trace's last call: the length of its list, and the hash of all of the list but its end. */
interface Told extends Pick<SharedInput, "number" | "leftOut"> {
  length: number;
  hash: string;
  systemHash: string;
}

/** Reads models' inputs. Each call of a conversation repeats the previous call's input, which is read and kept once. */
function createInputs() {
  const last = new Map<string, Told>();
  const seed = BigInt(randomInt(2 ** 47));
  const hashOf = (text: string) => Bun.hash(text, seed).toString(36);
  let number = 0;

  function remember(trace: string, told: Told): void {
    last.delete(trace);
    last.set(trace, told);
    const [oldest] = last.keys();
    if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest);
  }

  /** The part of a list after the previous list; undefined if it does not begin with that list. */
  function restOf(list: string, before: Told | undefined): string | undefined {
    if (before === undefined || list.length < before.length) return undefined;
    const end = before.length - 1;
    if (list.length > before.length && list.charAt(end) !== ",") return undefined;
    if (hashOf(list.slice(0, end)) !== before.hash) return undefined;
    return list.length === before.length ? "[]" : `[${list.slice(end + 1)}`;
  }

  return {
    /** Undefined if the input is not a list of messages as a text. */
    read(trace: string, attributes: Fields): SharedInput | undefined {
      const told = attributes[inputMessages];
      if (typeof told !== "string" || !told.startsWith("[{") || !told.endsWith("}]")) return undefined;
      number += 1;
      const systemHash = hashOf(JSON.stringify(fieldAt(attributes, systemInstructions)) ?? "");
      const before = last.get(trace);
      const rest = before?.systemHash === systemHash ? restOf(told, before) : undefined;
      const leftOut = new LeftOut();
      const found = { [inputMessages]: rest ?? told };
      const messages = rest === "[]" ? [] : messagesOf(found, [inputMessages], leftOut);
      // Not JSON, or cannot be read in parts.
      if (rest !== "[]" && !isObject(messages[0])) return undefined;
      const own = looseTurns(messages, leftOut);
      const turns = rest === undefined ? [...systemOf(attributes, leftOut), ...own] : own;
      if (rest !== undefined && before !== undefined) leftOut.add(before.leftOut);
      remember(trace, { number, leftOut, length: told.length, hash: hashOf(told.slice(0, -1)), systemHash });
      return { number, follows: rest === undefined ? undefined : before?.number, turns, leftOut };
    },
  };
}

/** The items with their complete inputs. */
function withInputs(items: readonly GenAiItem[]): GenAiItem[] {
  const byNumber = new Map(items.map((item) => [item.number, item]));
  const whole = new Map<GenAiItem, readonly Turn[]>();
  function inputTo(item: GenAiItem): readonly Turn[] {
    const chain: GenAiItem[] = [];
    let of: GenAiItem | undefined = item;
    while (of !== undefined && !whole.has(of)) {
      chain.push(of);
      of = of.follows === undefined ? undefined : byNumber.get(of.follows);
    }
    let turns = of === undefined ? [] : (whole.get(of) ?? []);
    for (const one of chain.reverse()) {
      turns = turns.length === 0 ? (one.model?.input ?? []) : [...turns, ...(one.model?.input ?? [])];
      whole.set(one, turns);
    }
    return turns;
  }
  return items.map((item) =>
    item.model === undefined || item.follows === undefined
      ? item
      : { ...item, model: { ...item.model, input: [...inputTo(item)] } },
  );
}

/** The messages in the first of these attributes: a list, or numbered fields as in older conventions. A truncated list is counted. */
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

/** The messages of events, as in older conventions: one event for each message. */
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

/** How deep spans are nested at most. */
const maxDepth = 100;

/** Spans of OpenTelemetry's conventions for generative AI, whose `gen_ai.*` attributes describe what agents and tools do. */
export const otelGenAi: Layout = {
  format: "otel-genai",
  version: 3,
  about: {
    title: "OpenTelemetry GenAI spans",
    recognised_by: "`resourceSpans`, or spans with `traceId` and any attribute `gen_ai.*`",
    trajectory: "the spans of one `gen_ai.conversation.id`, else of one `traceId`",
    action:
      "spans of `gen_ai.operation.name` `execute_tool`, by start: `gen_ai.tool.name`, `gen_ai.tool.call.arguments`; if none has a result, the calls and texts of the last chat span's messages",
    answer: "`gen_ai.tool.call.result`; status code 2 is an error",
    context: "first user of `gen_ai.input.messages`; `gen_ai.tool.definitions`; `gen_ai.system_instructions`",
    also: "time from the span's end; usage from the chat span that made the call; names and events of older conventions; rows of Braintrust, PostHog and Mastra that carry these attributes",
    left_out: "metrics, other spans",
    example: `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"7b1e","spanId":"01","name":"execute_tool shell","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"shell"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\\"cmd\\":\\"ls drawer\\"}"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"key.txt"}}]}]}]}]}`,
  },
  recognises(document) {
    const names = attributeNames(document);
    if (names.some(isGenAi)) return hasSpans(document) ? "spans with gen_ai attributes" : undefined;
    if (names.some(isOpenInference) || !isExport(document)) return undefined;
    return "resourceSpans";
  },
  admits(document) {
    if (!isExport(document) && !hasSpans(document)) return false;
    const names = attributeNames(document);
    return names.some(isGenAi) || !names.some(isOpenInference);
  },
  open({ leftOut }) {
    const inputs = createInputs();
    return spanReader<GenAiItem>(
      (document) =>
        spansIn(document)
          .flatMap((span) => genAiItems(span, leftOut, inputs))
          .map((item) => [keysOf(item), item]),
      function* (items) {
        for (const [id, own] of byConversation(withInputs(items)))
          yield { trace: { ...traceOfSpans(withoutAgents(own), leftOut), id } };
      },
    );
  },
};

const keysOf = ({ trace, conversation }: GenAiItem) => [
  `trace ${trace}`,
  ...(conversation === undefined ? [] : [`conversation ${conversation}`]),
];
const isGenAi = (name: string) => name === "gen_ai" || name.startsWith("gen_ai.");
const isOpenInference = (name: string) => name === "openinference" || name.startsWith("openinference.");

function isExport({ value, within }: TraceDocument): boolean {
  const isWhole = ["resourceSpans", "resource_spans", "scopeSpans", "scope_spans"].some(
    (name) => isObject(value) && Array.isArray(value[name]),
  );
  return isWhole || (within !== undefined && /^resource_?spans$/i.test(within));
}

/** The names of the attributes of a document's spans and of their events. */
function attributeNames(document: TraceDocument): string[] {
  return spanValues(document).flatMap(([span]) => {
    const events = listIn(span, "events").map((event) => (isObject(event) ? String(event.name) : ""));
    return [...Object.keys(attributesOf(span)), ...events];
  });
}

/** The spans by conversation. A span that names none belongs to its nearest ancestor's, otherwise to its trace's first. */
function byConversation(items: readonly GenAiItem[]): Map<string, GenAiItem[]> {
  const byId = new Map(items.map((item) => [`${item.trace} ${item.id}`, item]));
  const firsts = new Map<string, string>();
  for (const { trace, conversation } of items)
    if (conversation !== undefined && !firsts.has(trace)) firsts.set(trace, conversation);
  const found = new Map<string, GenAiItem[]>();
  for (const item of items) {
    let of: GenAiItem | undefined = item;
    for (let depth = 0; of !== undefined && of.conversation === undefined && depth < maxDepth; depth += 1)
      of = byId.get(`${of.trace} ${of.parent}`);
    const id = of?.conversation ?? firsts.get(item.trace) ?? item.trace;
    const own = found.get(id);
    if (own === undefined) found.set(id, [item]);
    else own.push(item);
  }
  return found;
}

/** Agents' inputs and outputs count only if no model's call has messages. */
function withoutAgents(items: readonly GenAiItem[]): readonly GenAiItem[] {
  const hasMessages = items.some(
    ({ model, isAgents }) => isAgents !== true && (model?.input.length ?? 0) > 0,
  );
  return hasMessages ? items.filter(({ isAgents }) => isAgents !== true) : items;
}
