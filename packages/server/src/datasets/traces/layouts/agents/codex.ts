import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, textIn, timeOf } from "../../content.ts";
import { type Layout, maxHeldBytes, type ReadOptions, type TraceReader, tooLong } from "../../layout.ts";
import { isItem, turnsOfMessage, usageIn, withoutNeighbours } from "../../messages.ts";
import type { Turn } from "../../turns.ts";

const types = /^(session_meta|turn_context|response_item|event_msg|compacted)$/;
/** Events that say what an item says as well. */
const repeating = /^(user_message|agent_message|agent_reasoning|agent_reasoning_raw_content)$/;
/** What Codex tells the agent in the user's name. */
const aside = /^\s*(<(user_instructions|environment_context)>|# AGENTS\.md)/;

const usageNames = {
  prompt_tokens: "info.last_token_usage.input_tokens",
  completion_tokens: "info.last_token_usage.output_tokens",
  cached_tokens: "info.last_token_usage.cached_input_tokens",
};

function openReader({ leftOut }: ReadOptions): TraceReader {
  const turns: Turn[] = [];
  let id: string | undefined;
  let agent: string | undefined;
  let model: string | undefined;
  let held = 0;

  function add(type: string, payload: Record<string, unknown>, at: string | undefined): void {
    if (type === "turn_context") model = textIn(payload, "model") ?? model;
    else if (type === "session_meta") {
      // The sessions that this one continues follow it.
      if (id !== undefined) return;
      id = textIn(payload, "id");
      agent = textIn(payload, "originator");
      const system = textIn(payload, "base_instructions.text") ?? textIn(payload, "instructions");
      if (system !== undefined) turns.push({ by: "system", content: system });
    } else if (type === "response_item" && (isItem(payload) || payload.role !== undefined))
      for (const turn of turnsOfMessage(payload, ["payload"], leftOut, () => ({ at, model })))
        turns.push(turn.by === "environment" ? { ...turn, isAside: aside.test(textOf(turn.content)) } : turn);
    else if (payload.type === "token_count") {
      const last = turns.findLast((turn) => turn.by === "agent");
      if (last !== undefined) last.usage = usageIn(payload, usageNames) ?? last.usage;
    } else if (!repeating.test(String(payload.type))) leftOut.count("other_event");
  }

  function addReported(type: string, value: Record<string, unknown>): void {
    id ??= textIn(value, "thread_id");
    const done = type === "item.completed" && isObject(value.item) ? value.item : undefined;
    const made = done && turnsOfCompleted(done);
    if (made !== undefined) turns.push(...made);
    else if (done !== undefined || type === "turn.failed" || type === "error") leftOut.count("other_event");
  }

  return {
    read({ value, bytes }) {
      const payload = payloadOf(value);
      const type = textIn(value, "type") ?? "";
      if (!isObject(value) || (payload === undefined && !ofStream.test(type)))
        throw new LineError("Field required", ["payload"]);
      if (held > maxHeldBytes) return [];
      held += bytes;
      if (held > maxHeldBytes) {
        turns.length = 0;
        throw tooLong("The session");
      }
      if (payload === undefined) addReported(type, value);
      else add(type, payload, timeOf(value.timestamp));
      return [];
    },
    *end() {
      yield { trace: { id, turns: withoutNeighbours(turns), tags: { agent } } };
    },
  };
}

/** The turns of an item that `codex exec --json` reports as completed. Its calls come with their answers, and no prompt. */
function turnsOfCompleted(item: Record<string, unknown>): Turn[] | undefined {
  const { type, status } = item;
  const text = textIn(item, "text");
  if (type === "agent_message") return [{ by: "agent", content: text }];
  if (type === "reasoning") return [{ by: "agent", reasoning: text === undefined ? [] : [text] }];
  if (type !== "command_execution" && type !== "mcp_tool_call") return undefined;
  const isCommand = type === "command_execution";
  const name = isCommand ? type : [textIn(item, "server"), textIn(item, "tool")].filter(Boolean).join(".");
  const input = isCommand ? { command: item.command } : item.arguments;
  const content = isCommand
    ? item.aggregated_output
    : (fieldAt(item.result, "content") ?? fieldAt(item.error, "message"));
  return [
    { by: "agent", calls: [{ name, input }] },
    { by: "answer", content, isError: status === "failed" },
  ];
}

const ofStream =
  /^(thread\.started|turn\.(started|completed|failed)|item\.(started|updated|completed)|error)$/;

function payloadOf(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) && isObject(value.payload) ? value.payload : undefined;
}

/** A message's first text. */
function textOf(content: unknown): string {
  const [first] = [content].flat();
  return typeof first === "string" ? first : (textIn(first, "text") ?? "");
}

/** Sessions of OpenAI's Codex. */
export const codex: Layout = {
  format: "codex",
  version: 1,
  about: {
    title: "Codex' sessions",
    recognised_by:
      "lines with `payload` and a `type` of `session_meta`, `response_item`, `event_msg`, …; or the events of `codex exec --json`: `thread.started`, `item.completed`, …",
    trajectory: "the file; `session_meta`'s `id`, or `thread_id`",
    action:
      "`function_call`, `custom_tool_call` or `local_shell_call`, or an item `command_execution` or `mcp_tool_call`; without calls, the assistant's text",
    answer: "the `…_output` with the `call_id`; after a text, the user's",
    context:
      "first user message that is not Codex' own (`<environment_context>`, …); `session_meta`'s instructions",
    also: "`timestamp`; `turn_context`'s model; usage from the `token_count` after the call",
    left_out: "`reasoning`, what the provider's own tools did, other events",
    example: [
      `{"timestamp":"2026-01-01T10:00:00.000Z","type":"session_meta","payload":{"id":"s1","cwd":"/tmp","originator":"codex_cli_rs"}}`,
      `{"timestamp":"2026-01-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Find the key."}]}}`,
      `{"timestamp":"2026-01-01T10:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}","call_id":"c1"}}`,
      `{"timestamp":"2026-01-01T10:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"key.txt"}}`,
    ].join("\n"),
  },
  recognises: ({ value }) => {
    const type = textIn(value, "type") ?? "";
    if (types.test(type) && payloadOf(value) !== undefined) return `payload and type ${type}`;
    const isReport = textIn(value, "thread_id") !== undefined || textIn(value, "item.type") !== undefined;
    return isReport && ofStream.test(type) ? `an event ${type}` : undefined;
  },
  admits: ({ value }) => {
    const type = textIn(value, "type") ?? "";
    return ofStream.test(type) || (type !== "" && payloadOf(value) !== undefined);
  },
  open: openReader,
};
