import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, textIn, timeOf } from "../../content.ts";
import type { Layout, ReadOptions, Recorded, TraceDocument, TraceReader } from "../../layout.ts";
import { turnsOfMessage, usageIn } from "../../messages.ts";
import { joinedTurn, type Turn } from "../../turns.ts";

interface Session {
  id: string | undefined;
  turns: Turn[];
  /** Where the turn of each message of the agent's is. */
  begun: Map<string, number>;
  /** The number of the line that it had last. */
  last: number;
}

/** How many sessions of one file are held. Of more, the one that is silent for longest is at its end. */
const maxSessions = 16;

/** What Claude Code tells the user in lines of type `system`. */
const notices =
  /^(local_command|turn_duration|api_error|stop_hook_summary|compact_boundary|microcompact_boundary|bridge_status|away_summary|scheduled_task_fire|informational)$/;
/** Messages that neither the agent nor the environment wrote. */
const ownMessages = ["isApiErrorMessage", "isCompactSummary", "isVisibleInTranscriptOnly"];
const isOwn = (line: Record<string, unknown>) =>
  ownMessages.some((name) => line[name] === true) || textIn(line.message, "model") === "<synthetic>";
/** How a user's line begins that tells of a command. */
const command = /^\s*<(command-(name|message)|local-command-|bash-(input|stdout|stderr))/;
const usageNames = {
  prompt_tokens: "input_tokens",
  completion_tokens: "output_tokens",
  cached_tokens: "cache_read_input_tokens",
};

function openReader({ leftOut }: ReadOptions): TraceReader {
  const sessions = new Map<string | undefined, Session>();
  let current: Session | undefined;
  let lines = 0;

  function sessionOf(line: Record<string, unknown>): Session {
    const id = textIn(line, "sessionId") ?? current?.id;
    current = sessions.get(id) ?? { id, turns: [], begun: new Map(), last: 0 };
    sessions.set(id, current);
    lines += 1;
    current.last = lines;
    return current;
  }

  function* closeSilent(): Generator<Recorded, void> {
    if (sessions.size <= maxSessions) return;
    const silent = [...sessions.values()].reduce((one, other) => (other.last < one.last ? other : one));
    sessions.delete(silent.id);
    yield { trace: silent };
  }

  return {
    *read({ value }: TraceDocument) {
      if (!isObject(value) || typeof value.type !== "string") throw new LineError("Field required", ["type"]);
      const { type, content, subtype } = value;
      if (value.isSidechain === true) leftOut.count("side_chain");
      else if (type === "user" || type === "assistant") {
        if (isOwn(value)) leftOut.count("other_event");
        else {
          const turns = turnsOfLine(value, leftOut);
          add(sessionOf(value), textIn(value.message, "id"), turns);
        }
      } else if (type === "system" && typeof content === "string" && !notices.test(String(subtype)))
        sessionOf(value).turns.push({ by: "system", content });
      else leftOut.count("other_event");
      yield* closeSilent();
    },
    *end() {
      for (const trace of sessions.values()) yield { trace };
    },
  };
}

function turnsOfLine(line: Record<string, unknown>, leftOut: ReadOptions["leftOut"]): Turn[] {
  const turns = turnsOfMessage(line.message, ["message"], leftOut, ({ usage }) => ({
    at: timeOf(line.timestamp),
    usage: usageIn(usage, usageNames),
  }));
  const content = fieldAt(line.message, "content");
  const isAside = line.isMeta === true || (typeof content === "string" && command.test(content));
  return isAside ? turns.map((turn) => (turn.by === "environment" ? { ...turn, isAside } : turn)) : turns;
}

/** Adds the turns of a line. The lines of one message of the agent's, between which answers may stand, are one turn. */
function add({ turns, begun }: Session, id: string | undefined, added: readonly Turn[]): void {
  for (const turn of added) {
    const at = turn.by === "agent" && id !== undefined ? begun.get(id) : undefined;
    const earlier = at === undefined ? undefined : turns[at];
    if (turn.by === "agent" && at !== undefined && earlier?.by === "agent")
      turns[at] = joinedTurn(earlier, turn);
    else {
      if (turn.by === "agent" && id !== undefined) begun.set(id, turns.length);
      turns.push(turn);
    }
  }
}

/** The sessions that Claude Code keeps in its `projects` folder. */
export const claudeCode: Layout = {
  format: "claude-code",
  version: 2,
  about: {
    title: "Claude Code's sessions",
    recognised_by: "lines with `type`, `uuid` and `sessionId`",
    trajectory: "the lines of one `sessionId`",
    action:
      "a block `tool_use` of the assistant's; without one, its text. Lines of one `message.id` are one turn",
    answer: "the block `tool_result` with the call's id; after a text, the user's. `is_error` marks errors",
    context:
      "first user text that is neither `isMeta` nor of a command; lines of type `system`, unless they are notices",
    also: "`timestamp`; `input_tokens`, `output_tokens` and `cache_read_input_tokens` of the turn's last line",
    left_out: "lines with `isSidechain`, `thinking`, `toolUseResult`, summaries, snapshots and other events",
    example: [
      `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Find the key."}}`,
      `{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:01.000Z","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls drawer"}}],"usage":{"input_tokens":12,"output_tokens":5,"cache_read_input_tokens":0}}}`,
      `{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"key.txt"}]},"toolUseResult":{"stdout":"key.txt"}}`,
    ].join("\n"),
  },
  recognises: ({ value }) =>
    ["type", "uuid", "sessionId"].every((name) => textIn(value, name) !== undefined)
      ? "type, uuid and sessionId"
      : undefined,
  admits: ({ value }) => textIn(value, "type") !== undefined,
  open: openReader,
};
