import { LineError } from "../../../upload/lines.ts";
import { exactIn, isObject, type LeftOut, textIn, timeOf } from "../../content.ts";
import {
  type Layout,
  maxHeldBytes,
  type ReadOptions,
  type Recorded,
  type TraceReader,
  tooLong,
} from "../../layout.ts";
import { turnsOfMessage, usageIn } from "../../messages.ts";
import { branchTo, countTurns, type Event, joinedTurns, type Part, type Turn } from "../../turns.ts";

interface Entry extends Event, Part {}

interface Session {
  id: string | undefined;
  agent: string | undefined;
  entries: Entry[];
  bytes: number;
}

/** Messages that Pi adds itself, from neither the agent nor the environment. */
const ownMessages = /^(bashExecution|custom|branchSummary|compactionSummary)$/;
const piUsage = {
  prompt_tokens: "input",
  completion_tokens: "output",
  cached_tokens: "cacheRead",
  cost_usd: "cost.total",
};

function openReader({ leftOut }: ReadOptions): TraceReader {
  let session: Session | undefined;

  function* close(): Generator<Recorded, void> {
    if (session === undefined) return;
    const { id, agent } = session;
    yield { trace: { id, turns: turnsOf(session, leftOut), tags: { agent } } };
  }

  return {
    *read({ value, bytes }) {
      if (!isObject(value) || typeof value.type !== "string") throw new LineError("Field required", ["type"]);
      if (value.type === "session") {
        yield* close();
        const agent = textIn(value, "harness");
        session = { id: textIn(value, "id"), agent, entries: [], bytes: 0 };
        return;
      }
      if (session === undefined) throw new LineError("The first line should be of type session", ["type"]);
      if (session.bytes > maxHeldBytes) return;
      session.bytes += bytes;
      if (session.bytes > maxHeldBytes) {
        session.entries = [];
        throw tooLong("The session");
      }
      const isOwn = isObject(value.message) && ownMessages.test(String(value.message.role));
      const turns = value.type === "message" && !isOwn ? turnsOfEntry(value, leftOut) : undefined;
      if (turns === undefined) leftOut.count("other_event");
      session.entries.push({
        id: textIn(value, "id"),
        parent: value.parentId === null ? null : String(value.parentId),
        message: undefined,
        turns: turns ?? [],
      });
    },
    end: close,
  };
}

/** The turns that lead to the last entry. Others were abandoned. Pi's entries name their parents. */
function turnsOf({ entries }: Session, leftOut: LeftOut): Turn[] {
  const branch = branchTo(entries, entries.length - 1);
  const kept = entries.filter((_, at) => branch.has(at));
  leftOut.count("branch", countTurns(entries) - countTurns(kept));
  return joinedTurns(kept);
}

function turnsOfEntry({ message, timestamp }: Record<string, unknown>, leftOut: LeftOut): Turn[] {
  if (!isObject(message)) throw new LineError("Input should be an object", ["message"]);
  const known = {
    role: message.role === "toolResult" ? "tool" : message.role,
    content: Array.isArray(message.content) ? message.content.map(toBlock) : exactIn(message, "content"),
    tool_calls: message.toolCalls,
    tool_call_id: message.toolCallId,
    reasoning_content: message.reasoningContent,
    model: message.model,
    is_error: message.isError,
  };
  return turnsOfMessage(known, ["message"], leftOut, () => ({
    at: timeOf(message.timestamp) ?? timeOf(timestamp),
    usage: usageIn(message.usage, piUsage),
  }));
}

function toBlock(block: unknown): unknown {
  if (!isObject(block) || block.type !== "toolCall") return block;
  return { type: "tool_use", id: block.id, name: block.name, input: block.arguments };
}

/** What identifies a session's first line. */
function reasonOf(value: unknown): string | undefined {
  if (!isObject(value) || value.type !== "session") return undefined;
  if (textIn(value, "harness") !== undefined) return "a session's header with harness";
  const isPis = textIn(value, "id") !== undefined && textIn(value, "cwd") !== undefined;
  return isPis ? "the header of a session of Pi" : undefined;
}

/** Session Trace Simple Format, as Hugging Face's viewer shows it, and Pi's own sessions. */
export const sts: Layout = {
  format: "sts",
  version: 2,
  about: {
    title: "Session traces of Hugging Face's viewer (STS), and Pi's",
    recognised_by: "a first line of type `session` with `harness`, or Pi's with `id` and `cwd`",
    trajectory: "a session; its `id`",
    action: "`message.toolCalls[].function`, or a block `toolCall`; without calls, the assistant's text",
    answer:
      "the message of role `tool` or `toolResult` with the `toolCallId`; after a text, the user's. `isError` marks errors",
    context: "first user text; messages of role `system`",
    also: "`timestamp`; of Pi's also `usage`",
    left_out: "`reasoningContent` and thinking, abandoned branches, entries of other types",
    example: [
      `{"type":"session","harness":"my-agent","id":"run-1","name":"The key"}`,
      `{"type":"message","message":{"role":"user","content":"Find the key.","timestamp":1767261600000}}`,
      `{"type":"message","message":{"role":"assistant","content":"","toolCalls":[{"id":"t1","function":{"name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"}}]}}`,
      `{"type":"message","message":{"role":"tool","toolCallId":"t1","content":"key.txt","timestamp":1767261602000}}`,
    ].join("\n"),
  },
  recognises: ({ value }) => reasonOf(value),
  admits: ({ value }) => textIn(value, "type") !== undefined,
  open: openReader,
};
