import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, type LeftOut, listIn, textIn, timeOf } from "../../content.ts";
import {
  type At,
  type Layout,
  maxHeldBytes,
  objectAt,
  type Recorded,
  requiredText,
  tooLong,
} from "../../layout.ts";
import { saidIn } from "../../messages.ts";
import { branchTo, callsOf, countTurns, type Event, joinedTurns, type Part, type Turn } from "../../turns.ts";

const kinds = /^[A-Z]\w*(Event|Observation|Condensation|CondensationRequest)$|^Condensation(Request)?$/;
const sources = ["agent", "user", "environment", "hook"];
/** Events that are not nodes of the event tree. */
const besideTree = ["ConversationStateUpdateEvent", "ConversationErrorEvent"];
const isState = (entry = "") => /(^|\/)base_state\.json$/.test(entry);

const isEvent = (entry: string) => /(^|\/)event-(\d+)-[^/]*\.json$/.test(entry);
const folderOf = (entry: string) => entry.replace(/[^/]*$/, "").replace(/(^|\/)(events\/)?$/, "");

/** The folder of the conversation that a file is a part of, by the file's name. */
export function folderOfPart(name = ""): string | undefined {
  return isState(name) || isEvent(name) ? folderOf(name) : undefined;
}

/** The events of one folder of a zip, or of a file. */
interface Conversation {
  events: HandsEvent[];
  /** The contents of `base_state.json`. */
  state: Record<string, unknown>;
}

/** The parts of an event that are used. */
interface HandsEvent extends Event, Part {
  kind: string;
  order: number;
  tools: unknown;
}

const maxEvents = 200_000;

function recordedOf(conversation: Conversation, id: string | undefined, leftOut: LeftOut): Recorded {
  const events = conversation.events.sort((one, other) => one.order - other.order);
  const named = textIn(conversation.state, "leaf_event_id");
  const leaf = events.findIndex(({ id: of }) => of !== undefined && of === named);
  const last = events.findLastIndex(({ kind }) => !besideTree.includes(kind));
  const active = branchTo(events, leaf < 0 ? last : leaf);
  const branch = events.filter((_, at) => active.has(at));
  leftOut.count("branch", countTurns(events) - countTurns(branch));
  const turns = joinedTurns(branch);
  // The call that ends a run is answered with the agent's last words.
  const finishing = new Set(callsOf(turns).flatMap(({ id, name }) => (name === "finish" ? [id] : [])));
  for (const turn of turns)
    if (turn.by === "answer" && turn.isError !== true && finishing.has(turn.of)) turn.done = true;
  const model = textIn(fieldAt(conversation.state.agent, "llm"), "model");
  const tools = branch.findLast((event) => event.tools !== undefined)?.tools;
  return { trace: { id, turns, tools, tags: { model } } };
}

const openReader: Layout["open"] = ({ leftOut }) => {
  const conversations = new Map<string, Conversation>();
  let count = 0;
  let heldBytes = 0;
  return {
    read({ entry, value, bytes }) {
      count += 1;
      heldBytes += bytes;
      if (count > maxEvents || heldBytes > maxHeldBytes) {
        conversations.clear();
        throw count > maxEvents
          ? new LineError(`There are more than ${maxEvents} events`)
          : tooLong("All events together");
      }
      const folder = folderOf(entry ?? "");
      const conversation = conversations.get(folder) ?? { events: [], state: {} };
      conversations.set(folder, conversation);
      const event = objectAt(value);
      const [, number] = /event-(\d+)-[^/]*$/.exec(entry ?? "") ?? [];
      if (isState(entry)) conversation.state = event.value;
      else conversation.events.push(eventOf(event, Number(number ?? count), leftOut));
      return [];
    },
    *end() {
      const found = [...conversations].filter(([, { events }]) => events.length > 0);
      for (const [folder, conversation] of found)
        yield recordedOf(conversation, (found.length > 1 && folder) || undefined, leftOut);
    },
  };
};

function eventOf(event: At, order: number, leftOut: LeftOut): HandsEvent {
  const { value } = event;
  const kind = requiredText(event, "kind");
  const turn = turnOf(event, kind);
  if (turn === undefined) leftOut.count("other_event");
  if (listIn(value, "extended_content").length > 0 || isObject(value.dynamic_context))
    leftOut.count("other_event");
  return {
    id: textIn(value, "id"),
    parent: value.parent_id === "__root__" ? null : textIn(value, "parent_id"),
    kind,
    order,
    turns: turn === undefined ? [] : [turn],
    message: textIn(value, "llm_response_id"),
    tools: kind === "SystemPromptEvent" ? value.tools : undefined,
  };
}

function turnOf(event: At, kind: string): Turn | undefined {
  const { value, path } = event;
  const at = timeOf(value.timestamp);
  const of = textIn(value, "tool_call_id");
  const answer = (content: unknown, isError: boolean): Turn => ({ by: "answer", of, content, isError, at });
  if (kind === "SystemPromptEvent") return { by: "system", content: value.system_prompt };
  if (kind === "AgentErrorEvent") return answer(requiredText(event, "error"), true);
  if (kind === "UserRejectObservation") return answer(requiredText(event, "rejection_reason"), true);
  if (kind === "ObservationEvent") {
    const { content, is_error } = objectAt(value.observation, [...path, "observation"]).value;
    return answer(saidIn(content), is_error === true);
  }
  if (kind === "MessageEvent") {
    const message = objectAt(value.llm_message, [...path, "llm_message"]).value;
    const content = saidIn(message.content);
    if (value.source !== "agent") return { by: "environment", content, at };
    return { by: "agent", content, reasoning: reasoningOf(message) };
  }
  if (kind !== "ActionEvent") return undefined;
  const call = objectAt(value.tool_call, [...path, "tool_call"]);
  const name = requiredText(call, "name");
  const calls = [{ id: textIn(call.value, "id") ?? of, name, input: call.value.arguments }];
  return { by: "agent", content: saidIn(value.thought), calls, reasoning: reasoningOf(value) };
}

/** Reasoning as a text; if there is none, its blocks. */
function reasoningOf(value: Record<string, unknown>): string[] {
  const text = textIn(value, "reasoning_content");
  if (text !== undefined) return [text];
  return listIn(value, "thinking_blocks").map((block) => textIn(block, "thinking") ?? "");
}

/** The events of OpenHands' software agent SDK. */
export const openHands: Layout = {
  format: "openhands",
  version: 1,
  joinsEntries: true,
  about: {
    title: "OpenHands' events",
    recognised_by:
      "events with `kind` (`ActionEvent`, …) and `source`: an array, lines, or a folder or zip of `event-*.json`",
    trajectory: "the file, or the folder",
    action:
      "`ActionEvent.tool_call`; the calls of one `llm_response_id` are one turn; the agent's `MessageEvent`",
    answer:
      "`ObservationEvent.observation.content` by `tool_call_id`; `AgentErrorEvent` and `UserRejectObservation` as errors",
    context: "the user's first `MessageEvent`; `SystemPromptEvent.system_prompt` and `.tools`",
    also: "`timestamp`; done: a `finish` call that was answered without an error",
    left_out: "`thought`, reasoning, extended content, other events, turns of other branches (`parent_id`)",
    example: `[{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Find the key."}]}},{"kind":"ActionEvent","source":"agent","tool_call_id":"c1","tool_call":{"id":"c1","name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"}},{"kind":"ObservationEvent","source":"environment","tool_call_id":"c1","observation":{"content":[{"type":"text","text":"key.txt"}]}}]`,
  },
  recognises({ entry, value }) {
    if (isState(entry)) return "base_state.json";
    const kind = textIn(value, "kind") ?? "";
    const isKnown = kinds.test(kind) && sources.includes(textIn(value, "source") ?? "");
    return isKnown ? `kind ${kind.slice(0, 60)} and source` : undefined;
  },
  open: openReader,
};
