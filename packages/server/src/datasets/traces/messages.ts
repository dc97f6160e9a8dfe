import type { SampleUsage } from "@presage/contract";
import { LineError } from "../upload/lines.ts";
import {
  exactIn,
  fieldAt,
  isObject,
  isPart,
  LeftOut,
  listIn,
  numberIn,
  parsedText,
  refIn,
  textIn,
} from "./content.ts";
import {
  asEnvironment,
  eachDocument,
  type Layout,
  maxHeldBytes,
  type TraceDocument,
  tooLong,
} from "./layout.ts";
import { type AgentTurn, type Call, joinedTurn, type Trace, type Turn } from "./turns.ts";

/** What a layout knows about a message in addition to its content. */
export interface MessageFacts {
  at?: string | undefined;
  usage?: SampleUsage | undefined;
  model?: string | undefined;
}

const thinking = /^(thinking|redacted_thinking|reasoning|reasoning_content)$/;

/**
 * The turns of a chat's messages, in the spellings of OpenAI, Anthropic and compatible servers: calls in `tool_calls` or in blocks,
 * answers by role or in blocks. The assistant is the agent. `factsOf` says what else is known about a message.
 */
export function turnsOfMessages(
  messages: readonly unknown[],
  leftOut: LeftOut,
  factsOf: (message: Record<string, unknown>) => MessageFacts = () => ({}),
): Turn[] {
  const turns = messages.flatMap((message, index) =>
    turnsOfMessage(message, ["messages", index], leftOut, factsOf),
  );
  return messages.some(isItem) ? withoutNeighbours(turns) : turns;
}

/** The turns of the message at this path of its document. */
export function turnsOfMessage(
  message: unknown,
  path: readonly (string | number)[],
  leftOut: LeftOut,
  factsOf: (message: Record<string, unknown>) => MessageFacts = () => ({}),
): Turn[] {
  if (!isObject(message)) throw new LineError("Input should be an object", [...path]);
  if (isItem(message)) return turnsOfItem(message, factsOf(message), leftOut);
  const { role } = message;
  const facts = factsOf(message);
  if (role === "system" || role === "developer") return [{ by: "system", content: saidIn(message.content) }];
  if (role === "user" || role === "human") return turnsOfUser(message, facts);
  if (role === "tool" || role === "function") return [answerOf(message, facts)];
  // AgentBench calls the role `agent`.
  if (role === "assistant" || role === "ai" || role === "agent") {
    if (message.loss !== false) return [agentTurn(message, facts, leftOut)];
    return [{ ...agentTurn(message, facts, new LeftOut()), leftOutAs: "turn_without_loss" }];
  }
  const reason = "Input should be system, developer, user, assistant, tool or function";
  throw new LineError(role === undefined ? "Field required" : reason, [...path, "role"]);
}

const items =
  /^(reasoning|(function|custom_tool|local_shell|shell|apply_patch|computer|mcp|web_search|file_search|code_interpreter|image_generation)_call(_output)?)$/;

/** Whether a value is an item of OpenAI's Responses API that is not a message. */
export function isItem(value: unknown): boolean {
  return isObject(value) && value.role === undefined && items.test(String(value.type));
}

function turnsOfItem(
  item: Record<string, unknown>,
  { at, ...facts }: MessageFacts,
  leftOut: LeftOut,
): Turn[] {
  const type = String(item.type);
  const of = refIn(item, "call_id");
  if (type.endsWith("_output")) return [{ by: "answer", of, content: saidIn(exactIn(item, "output")), at }];
  if (type === "reasoning") {
    const blocks = [...listIn(item, "summary"), ...listIn(item, "content")];
    return [{ by: "agent", reasoning: blocks.map((block) => textIn(block, "text") ?? ""), ...facts }];
  }
  // What the model's provider did by itself has no answer in the conversation, and no `call_id`.
  const name = textIn(item, "name") ?? type.replace(/_call$/, "");
  if (of !== undefined)
    return [
      {
        by: "agent",
        calls: [{ id: of, name, input: item.arguments ?? item.input ?? item.action }],
        ...facts,
      },
    ];
  leftOut.count("other_event");
  return [];
}

/** The turns, with neighbouring ones of the agent as one: a model's response may be several items. */
export function withoutNeighbours(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.by === "agent" && last?.by === "agent") joined[joined.length - 1] = joinedTurn(last, turn);
    else joined.push(turn);
  }
  return joined;
}

/** A text's parts inside these tags, and the rest of it. */
function inTags(text: string, tag: string): { inside: string[]; rest: string } {
  const [before = "", ...pieces] = text.split(`<${tag}>`);
  const parts = pieces.map((piece) => piece.split(`</${tag}>`));
  const after = parts.map(([, ...others]) => others.join(""));
  return { inside: parts.map(([inside = ""]) => inside.trim()), rest: [before, ...after].join("").trim() };
}

/** The turns, with the calls and answers that models of Hermes' and Qwen's kind write into texts, in tags. */
export function withTaggedCalls(turns: readonly Turn[]): Turn[] {
  let unanswered = 0;
  return turns.flatMap((turn): Turn[] => {
    if (turn.by === "system") return [turn];
    if (turn.by === "agent") {
      const told = taggedTurn(turn);
      unanswered = told?.calls?.length ?? 0;
      return [told ?? turn];
    }
    if (unanswered === 0 || typeof turn.content !== "string") return [turn];
    const { inside, rest } = inTags(turn.content, "tool_response");
    // What follows a call without tags is its answer as well.
    const answers = inside.length > 0 ? inside : [turn.content];
    unanswered -= Math.min(unanswered, answers.length);
    const said = inside.length > 0 && rest !== "" ? [{ by: "environment" as const, content: rest }] : [];
    return [...answers.map((content): Turn => ({ ...turn, by: "answer", content })), ...said];
  });
}

/** The turn with the calls in its text; undefined if there are none, or if one of them is not JSON. */
function taggedTurn(turn: AgentTurn): AgentTurn | undefined {
  if (typeof turn.content !== "string" || (turn.calls?.length ?? 0) > 0) return undefined;
  const thought = inTags(turn.content, "think");
  const { inside, rest } = inTags(thought.rest, "tool_call");
  const calls = callsIn({ tool_calls: inside });
  if (calls.length === 0 || calls.length < inside.length) return undefined;
  return { ...turn, content: rest, calls, reasoning: [...(turn.reasoning ?? []), ...thought.inside] };
}

/** The content, unless it is an empty list, which says nothing. */
export function saidIn(content: unknown): unknown {
  return Array.isArray(content) && content.length === 0 ? undefined : content;
}

/** A user's message, whose blocks may include answers of tools, in order. */
function turnsOfUser(message: Record<string, unknown>, { at }: MessageFacts): Turn[] {
  const content = exactIn(message, "content");
  if (!hasBlocks(content, "tool_result")) return [{ by: "environment", content: saidIn(content), at }];
  const turns: Turn[] = [];
  let said: unknown[] = [];
  const say = () => {
    if (said.length > 0) turns.push({ by: "environment", content: said, at });
    said = [];
  };
  for (const block of content) {
    if (!isObject(block) || block.type !== "tool_result") {
      said.push(block);
      continue;
    }
    say();
    const isError = block.is_error === true;
    turns.push({
      by: "answer",
      of: refIn(block, "tool_use_id"),
      content: saidIn(exactIn(block, "content")),
      isError,
      at,
    });
  }
  say();
  return turns;
}

function answerOf(message: Record<string, unknown>, { at }: MessageFacts): Turn {
  const of = refIn(message, "tool_call_id") ?? refIn(message, "id");
  const isError = message.is_error === true || message.error === true || message.status === "error";
  return { by: "answer", of, content: saidIn(exactIn(message, "content")), isError, at };
}

/** The turn of an assistant's message. Blocks of reasoning, and text next to calls, are the agent's thoughts. */
function agentTurn(message: Record<string, unknown>, facts: MessageFacts, leftOut: LeftOut): AgentTurn {
  const blocks = Array.isArray(message.content) ? message.content : undefined;
  const calls: Call[] = callsIn(message);
  // Calls may lack a name.
  leftOut.count("call_without_answer", toldCalls(message).length - calls.length);
  const reasoning: string[] = [];
  for (const name of ["reasoning_content", "reasoning"]) {
    const text = textIn(message, name);
    if (text !== undefined) reasoning.push(text);
  }
  const said = blocks?.filter((block) => {
    if (!isObject(block)) return true;
    if (typeof block.type === "string" && thinking.test(block.type))
      reasoning.push(
        textIn(block, "thinking") ??
          textIn(block, "reasoning") ??
          textIn(block, "text") ??
          textIn(block, "value") ??
          "",
      );
    else if (block.type === "tool_call" && block.value !== undefined)
      calls.push(...callsIn({ tool_call: block.value }));
    else if (block.type === "tool_use")
      calls.push({ id: refIn(block, "id"), name: textIn(block, "name") ?? "", input: block.input });
    else if (typeof block.type === "string" && !isPart(block)) leftOut.count("other_event");
    else return true;
    return false;
  });
  if (textIn(message, "refusal") !== undefined) leftOut.count("other_event");
  if (isObject(message.audio)) leftOut.count("media");
  return {
    by: "agent",
    content: saidIn(said ?? exactIn(message, "content")),
    calls,
    reasoning,
    usage: facts.usage,
    model: facts.model ?? textIn(message, "model"),
  };
}

/** The calls as a message tells them: a list or a single call, which may be JSON text. */
export function toldCalls({ tool_calls, tool_call }: Record<string, unknown>): unknown[] {
  return [parsedText(tool_calls || tool_call || []) ?? []].flat();
}

/** The calls of a message: `{id, function: {name, arguments}}`, `{id, custom: {name, input}}`, without the wrapper, or as text. */
export function callsIn(message: Record<string, unknown>): Call[] {
  const calls = toldCalls(message).flatMap((told): Call[] => {
    const call = parsedText(told);
    if (!isObject(call)) return [];
    const { function: called, custom } = call;
    const of = [called, custom].find(isObject) ?? call;
    const name = typeof called === "string" ? called : textIn(of, "name");
    if (name === undefined) return [];
    return [{ id: refIn(call, "id"), name, input: of.arguments ?? of.input ?? of.args }];
  });
  const old = message.function_call;
  const name = textIn(old, "name");
  if (calls.length > 0 || name === undefined || !isObject(old)) return calls;
  return [{ name, input: old.arguments }];
}

/** Whether content is a list with a block of this type. */
export function hasBlocks(content: unknown, type: string): content is unknown[] {
  return Array.isArray(content) && content.some((block) => isObject(block) && block.type === type);
}

const speakers = /^(system|developer|user|human|assistant|ai|agent|tool|function)$/;

/** Whether a value is a message or an item by itself. */
function isLone(value: unknown): boolean {
  if (!isObject(value) || !speakers.test(String(value.role))) return isItem(value);
  return "content" in value || callsIn(value).length > 0;
}

/** Where a document has its messages: the first of these fields that is a list of them, or `messages` that is any list. */
export function messagesField(value: unknown, names: readonly string[]): string | undefined {
  return names.find((name) => {
    const list = fieldAt(value, name);
    return Array.isArray(list) && (name === "messages" || list.some(isLone));
  });
}

/** The messages in one of a document's fields, or the document itself if it is a message. */
export function messagesIn({ value }: TraceDocument, names = ["messages"]): readonly unknown[] | undefined {
  const name = messagesField(value, names);
  if (name !== undefined) return listIn(value, name);
  return isLone(value) ? [value] : undefined;
}

/**
 * A reader of lines with messages, whose assistant is the agent unless the upload says otherwise. Lines that are messages themselves
 * are one conversation. `aboutOf` says what else a line has.
 */
export function conversations(
  messagesOf: (document: TraceDocument) => readonly unknown[] | undefined,
  aboutOf: (value: Record<string, unknown>) => Partial<Trace>,
): Layout["open"] {
  const asAgent = eachDocument(function* (document, { leftOut }) {
    const messages = messagesOf(document);
    const { value, place } = document;
    if (messages === undefined || !isObject(value)) throw new LineError("Field required", ["messages"]);
    const { turns = [], ...about } = aboutOf(value);
    const id = idIn(value) ?? `line-${place[1]}`;
    const told = turnsOfMessages(messages, leftOut);
    const said = about.stated === undefined ? withTaggedCalls(told) : told;
    yield { trace: { id, turns: [...turns, ...said], ...about } };
  });
  return (options) => {
    const reader = (options.assistantIs === "environment" ? asEnvironment : asAgent)(options);
    const messages: unknown[] = [];
    let bytes = 0;
    return {
      *read(document) {
        const { value } = document;
        if (!isLone(value)) {
          const told = isObject(value) && { ...value, messages: value.messages ?? messagesOf(document) };
          return yield* reader.read({
            ...document,
            value: options.assistantIs === "environment" ? told : value,
          });
        }
        if (bytes > maxHeldBytes) return;
        bytes += document.bytes;
        messages.push(value);
        if (bytes <= maxHeldBytes) return;
        messages.length = 0;
        throw tooLong("The conversation");
      },
      *end() {
        if (messages.length === 0) return;
        yield* reader.read({ value: { id: options.source, messages }, place: ["document", 1], bytes });
      },
    };
  };
}

/** The id that a line gives its conversation, as a text: the first of these fields that is there. */
export function idIn(
  value: Record<string, unknown>,
  names: readonly string[] = ["trajectory_id", "id", "item_id"],
): string | undefined {
  const id = exactIn(value, names.find((name) => (value[name] ?? undefined) !== undefined) ?? "");
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** The reward of a conversation, if its line has one under a common name. */
export function rewardIn(
  value: Record<string, unknown>,
  names: readonly string[] = ["reward", "score", "success"],
): number | undefined {
  for (const name of names) {
    const found = value[name];
    if (typeof found === "boolean") return found ? 1 : 0;
    if (typeof found === "number" && Number.isFinite(found)) return found;
  }
  return undefined;
}

/** The usage of a call, by the layout's names for each count; the first one present is used. Values that are not counts are skipped. */
export function usageIn(
  value: unknown,
  names: { [field in keyof SampleUsage]?: string | readonly string[] },
): SampleUsage | undefined {
  const found = Object.entries(names).flatMap(([field, name]) => {
    const isCount = (count: number) => count >= 0 && (field === "cost_usd" || Number.isSafeInteger(count));
    const counts = [name].flat().map((one) => numberIn(value, one));
    const count = counts.find((one) => one !== undefined && isCount(one));
    return count === undefined ? [] : [[field, count]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
