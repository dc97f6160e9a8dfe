import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, type LeftOut, textIn, timeOf } from "../../content.ts";
import {
  type Layout,
  maxHeldBytes,
  type ReadOptions,
  type Recorded,
  type TraceDocument,
  type TraceReader,
  tooLong,
} from "../../layout.ts";
import { turnsOfMessage, usageIn } from "../../messages.ts";
import { branchTo, callsOf, countTurns, type Event, joinedTurns, type Part, type Turn } from "../../turns.ts";

/** A line without turns only leads to other lines. */
interface Line extends Event, Part {}

interface Session {
  id: string | undefined;
  lines: Line[];
  /** The size of all its lines. */
  bytes: number;
  /** The number of the session's latest line. */
  last: number;
}

/** How many sessions of one file are held. Beyond that, the session that has been silent longest counts as ended. */
const maxSessions = 16;

/** What Claude Code tells the user in lines of type `system`. */
const notices =
  /^(local_command|turn_duration|api_error|stop_hook_summary|compact_boundary|microcompact_boundary|bridge_status|away_summary|scheduled_task_fire|informational)$/;
/** Messages that neither the agent nor the environment wrote. */
const ownMessages = ["isApiErrorMessage", "isCompactSummary", "isVisibleInTranscriptOnly"];
const isOwn = (line: Record<string, unknown>) =>
  ownMessages.some((name) => line[name] === true) || textIn(line.message, "model") === "<synthetic>";
const sessionIdOf = (line: unknown) => textIn(line, "sessionId") ?? textIn(line, "session_id");
/** How a user's line begins if it reports a command. */
const command = /^\s*<(command-(name|message)|local-command-|bash-(input|stdout|stderr))/;
const usageNames = {
  prompt_tokens: "input_tokens",
  completion_tokens: "output_tokens",
  cached_tokens: "cache_read_input_tokens",
};

function openReader({ leftOut }: ReadOptions): TraceReader {
  const sessions = new Map<string | undefined, Session>();
  /** Sessions that were too long; their later lines are ignored. There are few: each took `maxHeldBytes` of the file. */
  const refused = new Set<string | undefined>();
  let current: Session | undefined;
  let lines = 0;
  let heldBytes = 0;

  function sessionOf(line: Record<string, unknown>): Session {
    const id = sessionIdOf(line) ?? current?.id;
    current = sessions.get(id) ?? { id, lines: [], bytes: 0, last: 0 };
    sessions.set(id, current);
    lines += 1;
    current.last = lines;
    return current;
  }

  function hold(session: Session, bytes: number, line: Line): void {
    if (refused.has(session.id)) return;
    session.bytes += bytes;
    heldBytes += bytes;
    session.lines.push(line);
    if (session.bytes <= maxHeldBytes) return;
    heldBytes -= session.bytes;
    session.lines = [];
    refused.add(session.id);
    throw tooLong("The session");
  }

  function* closeSilent(): Generator<Recorded, void> {
    if (sessions.size <= maxSessions && (heldBytes <= maxHeldBytes || sessions.size === 1)) return;
    const silent = [...sessions.values()].reduce((one, other) => (other.last < one.last ? other : one));
    sessions.delete(silent.id);
    if (silent.lines.length > 0) heldBytes -= silent.bytes;
    yield recordedOf(silent, leftOut);
  }

  return {
    *read({ value, bytes }: TraceDocument) {
      if (!isObject(value) || typeof value.type !== "string") throw new LineError("Field required", ["type"]);
      const turns = turnsOfLine(value, leftOut);
      // Lines without turns also lead to other lines.
      if (textIn(value, "uuid") !== undefined || turns.length > 0)
        hold(sessionOf(value), bytes, {
          id: textIn(value, "uuid"),
          parent: textIn(value, "parentUuid") ?? textIn(value, "logicalParentUuid") ?? rootOf(value),
          message: value.type === "assistant" ? textIn(value.message, "id") : undefined,
          turns,
        });
      yield* closeSilent();
    },
    *end() {
      for (const session of sessions.values()) yield recordedOf(session, leftOut);
    },
  };
}

function rootOf({ parentUuid, subtype }: Record<string, unknown>): null | undefined {
  return parentUuid === null && subtype !== "compact_boundary" ? null : undefined;
}

function turnsOfLine(line: Record<string, unknown>, leftOut: LeftOut): Turn[] {
  const { type, content, subtype } = line;
  const isSidechain = line.isSidechain === true || textIn(line, "parent_tool_use_id") !== undefined;
  const isSaid = type === "user" || type === "assistant";
  if (!isSidechain && isSaid && !isOwn(line)) return turnsSaid(line, leftOut);
  if (!isSidechain && type === "system" && typeof content === "string" && !notices.test(`${subtype}`))
    return [{ by: "system", content }];
  leftOut.count(isSidechain ? "side_chain" : "other_event");
  return [];
}

function turnsSaid(line: Record<string, unknown>, leftOut: LeftOut): Turn[] {
  const turns = turnsOfMessage(line.message, ["message"], leftOut, ({ usage }) => ({
    at: timeOf(line.timestamp),
    usage: usageIn(usage, usageNames),
  }));
  const content = fieldAt(line.message, "content");
  const isAside = line.isMeta === true || (typeof content === "string" && command.test(content));
  return isAside ? turns.map((turn) => (turn.by === "environment" ? { ...turn, isAside } : turn)) : turns;
}

/** The branch at the session's end: rewound turns are on other branches. */
function recordedOf({ id, lines }: Session, leftOut: LeftOut): Recorded {
  const branch = branchTo(
    lines,
    lines.findLastIndex(({ turns }) => turns.length > 0),
  );
  // Parallel calls are lines of one message; the answers to all but the last are dead ends.
  const messages = new Set([...branch].flatMap((at) => lines[at]?.message ?? []));
  const isPart = ({ message }: Line) => message !== undefined && messages.has(message);
  const calls = new Set(callsOf(lines.filter(isPart).flatMap(({ turns }) => turns)).map(({ id }) => id));
  const isAnswer = (turn: Turn) => turn.by === "answer" && calls.has(turn.of);
  const isKept = (line: Line, at: number) =>
    branch.has(at) || line.id === undefined || isPart(line) || line.turns.some(isAnswer);
  const kept = lines.filter(isKept);
  leftOut.count("branch", countTurns(lines) - countTurns(kept));
  return { trace: { id, turns: joinedTurns(kept) } };
}

/** The sessions that Claude Code keeps in its `projects` folder. */
export const claudeCode: Layout = {
  format: "claude-code",
  version: 3,
  about: {
    title: "Claude Code's sessions",
    recognised_by: "lines with `type`, `uuid` and `sessionId` (a stream of JSON: `session_id`)",
    trajectory: "the lines of one session",
    action:
      "a block `tool_use` of the assistant's; without one, its text. Lines of one `message.id` are one turn",
    answer: "the block `tool_result` with the call's id; after a text, the user's. `is_error` marks errors",
    context:
      "first user text that is neither `isMeta` nor of a command; lines of type `system`, unless they are notices",
    also: "`timestamp`; `input_tokens`, `output_tokens` and `cache_read_input_tokens` of the turn's last line",
    left_out:
      "lines with `isSidechain` or a `parent_tool_use_id`, turns that were rewound (`parentUuid`), `thinking`, `toolUseResult`, summaries, snapshots and other events",
    example: [
      `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Find the key."}}`,
      `{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:01.000Z","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls drawer"}}],"usage":{"input_tokens":12,"output_tokens":5,"cache_read_input_tokens":0}}}`,
      `{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s1","isSidechain":false,"timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"key.txt"}]},"toolUseResult":{"stdout":"key.txt"}}`,
    ].join("\n"),
  },
  recognises({ value }) {
    const isLine = ["type", "uuid"].every((name) => textIn(value, name) !== undefined);
    return isLine && sessionIdOf(value) !== undefined ? "type, uuid and sessionId" : undefined;
  },
  admits: ({ value }) => textIn(value, "type") !== undefined,
  open: openReader,
};
