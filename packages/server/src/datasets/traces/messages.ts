import type { SampleUsage } from "@presage/contract";
import { LineError } from "../upload/lines.ts";
import { exactIn, isObject, isPart, LeftOut, numberIn, parsedText, refIn, textIn } from "./content.ts";
import { asEnvironment, eachDocument, type Layout, type TraceDocument } from "./layout.ts";
import type { AgentTurn, Call, Trace, Turn } from "./turns.ts";

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
  return messages.flatMap((message, index) => turnsOfMessage(message, ["messages", index], leftOut, factsOf));
}

/** The turns of the message at this path of its document. */
export function turnsOfMessage(
  message: unknown,
  path: readonly (string | number)[],
  leftOut: LeftOut,
  factsOf: (message: Record<string, unknown>) => MessageFacts = () => ({}),
): Turn[] {
  if (!isObject(message)) throw new LineError("Input should be an object", [...path]);
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
      reasoning.push(textIn(block, "thinking") ?? textIn(block, "reasoning") ?? textIn(block, "text") ?? "");
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
export function toldCalls({ tool_calls }: Record<string, unknown>): unknown[] {
  return [parsedText(tool_calls || []) ?? []].flat();
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

/** A reader of lines with messages, whose assistant is the agent unless the upload says otherwise. `aboutOf` says what else a line has. */
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
    yield { trace: { id, turns: [...turns, ...turnsOfMessages(messages, leftOut)], ...about } };
  });
  return (options) => (options.assistantIs === "environment" ? asEnvironment : asAgent)(options);
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
