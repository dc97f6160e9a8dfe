import { LineError } from "../../../upload/lines.ts";
import { isObject, textIn, timeOf } from "../../content.ts";
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

  return {
    read({ value, bytes }) {
      const payload = payloadOf(value);
      if (payload === undefined || !isObject(value)) throw new LineError("Field required", ["payload"]);
      if (held > maxHeldBytes) return [];
      held += bytes;
      if (held > maxHeldBytes) {
        turns.length = 0;
        throw tooLong("The session");
      }
      add(String(value.type), payload, timeOf(value.timestamp));
      return [];
    },
    *end() {
      yield { trace: { id, turns: withoutNeighbours(turns), tags: { agent } } };
    },
  };
}

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
    recognised_by: "lines with `payload` and a `type` of `session_meta`, `response_item`, `event_msg`, …",
    trajectory: "the file; `session_meta`'s `id`",
    action: "`function_call`, `custom_tool_call` or `local_shell_call`; without calls, the assistant's text",
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
    return types.test(type) && payloadOf(value) !== undefined ? `payload and type ${type}` : undefined;
  },
  admits: ({ value }) => payloadOf(value) !== undefined && textIn(value, "type") !== undefined,
  open: openReader,
};
