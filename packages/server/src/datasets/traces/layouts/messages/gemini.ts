import { isObject, type LeftOut, listIn, refIn, textIn, timeOf } from "../../content.ts";
import { type Layout, maxHeldBytes, type ReadOptions, type TraceReader, tooLong } from "../../layout.ts";
import { idIn, usageIn } from "../../messages.ts";
import type { Turn } from "../../turns.ts";
import { turnsOfParts } from "../spans/loose-messages.ts";

type Message = Record<string, unknown>;

const usageNames = { prompt_tokens: "input", completion_tokens: "output", cached_tokens: "cached" };
const speakers = /^(user|model|function|tool|system)$/;

/** A message of Gemini's API, or one of Gemini CLI's sessions, which have a type in place of a role. */
function isSaid(value: unknown): value is Message {
  if (!isObject(value)) return false;
  if (Array.isArray(value.parts)) return speakers.test(String(value.role ?? "user"));
  return (
    /^(user|gemini)$/.test(String(value.type)) && typeof value.timestamp === "string" && "content" in value
  );
}

/** The messages of a request or a session. */
function listOf(value: unknown): readonly unknown[] | undefined {
  return [listIn(value, "contents"), listIn(value, "messages")].find((list) => list.some(isSaid));
}

function turnsOf(message: unknown, leftOut: LeftOut): Turn[] {
  const speaker = isObject(message) ? String(message.role ?? message.type ?? "user") : "";
  const isOfAgent = speaker === "model" || speaker === "gemini";
  if (!isObject(message) || !(isOfAgent || speakers.test(speaker))) {
    leftOut.count("other_event");
    return [];
  }
  const role = isOfAgent ? "assistant" : speaker;
  const at = timeOf(message.timestamp);
  const parts = [message.parts ?? message.content].flat();
  const usage = usageIn(message.tokens, usageNames);
  const turns = turnsOfParts({ role, parts }, leftOut).map((turn): Turn => {
    if (turn.by === "system") return turn;
    if (turn.by !== "agent") return { ...turn, at };
    const thoughts = listIn(message, "thoughts").map((thought) => textIn(thought, "description") ?? "");
    const calls = listIn(message, "toolCalls").map((call) => ({
      id: refIn(call, "id"),
      name: textIn(call, "name") ?? "",
      input: isObject(call) ? call.args : undefined,
    }));
    const model = textIn(message, "model");
    return {
      ...turn,
      calls: [...(turn.calls ?? []), ...calls],
      reasoning: [...(turn.reasoning ?? []), ...thoughts],
      usage,
      model,
    };
  });
  return [...turns, ...listIn(message, "toolCalls").flatMap((call) => answerOf(call, leftOut))];
}

/** The answer that a session has within its call. */
function answerOf(call: unknown, leftOut: LeftOut): Turn[] {
  const parts = isObject(call) && Array.isArray(call.result) ? call.result : [];
  const [answer] = turnsOfParts({ role: "tool", parts }, leftOut);
  if (answer?.by !== "answer") return [];
  const isError = answer.isError === true || textIn(call, "status") === "error";
  return [{ ...answer, of: refIn(call, "id"), isError, at: timeOf(Object(call).timestamp) }];
}

function openReader({ leftOut, source }: ReadOptions): TraceReader {
  /** The messages that are lines themselves. A later line of the same id replaces the earlier one. */
  const said = new Map<string, Message>();
  let id: string | undefined;
  let held = 0;
  return {
    *read({ value, bytes, place: [, number] }) {
      const list = listOf(value);
      if (list !== undefined && isObject(value)) {
        const system = value.systemInstruction ?? value.system_instruction;
        const parts = isObject(system) ? [system.parts].flat() : [];
        const turns = [
          ...turnsOfParts({ role: "system", parts }, leftOut),
          ...list.flatMap((one) => turnsOf(one, leftOut)),
        ];
        yield {
          trace: {
            id: idIn(value, ["id", "sessionId"]) ?? `line-${number}`,
            turns,
            tools: value.tools,
            tags: { model: textIn(value, "model") },
          },
        };
        return;
      }
      if (!isSaid(value)) {
        id ??= textIn(value, "sessionId");
        return;
      }
      if (held > maxHeldBytes) return;
      held += bytes;
      said.set(textIn(value, "id") ?? `line ${number}`, value);
      if (held <= maxHeldBytes) return;
      said.clear();
      throw tooLong("The conversation");
    },
    *end() {
      if (said.size > 0)
        yield {
          trace: { id: id ?? source, turns: [...said.values()].flatMap((one) => turnsOf(one, leftOut)) },
        };
    },
  };
}

/** Conversations with Gemini, and sessions of Gemini CLI. */
export const gemini: Layout = {
  format: "gemini",
  version: 1,
  about: {
    title: "Gemini's API, and Gemini CLI's sessions",
    recognised_by:
      "`contents` of `parts`, or such messages by themselves as one conversation; Gemini CLI's `messages` or lines with a `type` of `user` or `gemini` and `timestamp`",
    trajectory: "a line; `id` or `sessionId`, else `line-N`; of messages by themselves, the file",
    action: "`functionCall`, or the session's `toolCalls`; without calls, the model's text",
    answer:
      "`functionResponse`, of which `output` or `error` if it has one, with the call's `id`, else in order; after a text, the user's",
    context: "first user message; `systemInstruction`; `tools`",
    also: "of sessions `timestamp`, `tokens` and `model`",
    left_out: "thoughts, media, messages of other types",
    example: `{"contents":[{"role":"user","parts":[{"text":"Find the key."}]},{"role":"model","parts":[{"functionCall":{"name":"shell","args":{"cmd":"ls drawer"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"shell","response":{"output":"key.txt"}}}]}]}`,
  },
  recognises: ({ value }) => {
    const list = listOf(value);
    if (list === undefined) return isSaid(value) ? "messages of Gemini by themselves" : undefined;
    return listIn(value, "contents") === list ? "contents of parts" : "messages of Gemini CLI";
  },
  admits: ({ value }) =>
    listOf(value) !== undefined ||
    isSaid(value) ||
    textIn(value, "sessionId") !== undefined ||
    (isObject(value) && ("$set" in value || "timestamp" in value)),
  open: openReader,
};
