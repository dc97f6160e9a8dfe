import { LineError } from "../../../upload/lines.ts";
import { isObject, type LeftOut, listIn, textIn, timeOf } from "../../content.ts";
import {
  type At,
  type Layout,
  objectAt,
  type ReadOptions,
  type Recorded,
  requiredText,
  type TraceDocument,
} from "../../layout.ts";
import { saidIn } from "../../messages.ts";
import { joinedTurn, type Turn } from "../../turns.ts";

const kinds = /^[A-Z]\w*(Event|Observation|Condensation|CondensationRequest)$|^Condensation(Request)?$/;
const sources = ["agent", "user", "environment", "hook"];
/** No nodes of the tree of events. */
const besideTree = ["ConversationStateUpdateEvent", "ConversationErrorEvent"];
const rootParent = "__root__";
const stateEntry = /(^|\/)base_state\.json$/;
const isState = ({ entry }: TraceDocument) => entry !== undefined && stateEntry.test(entry);

/** The events of one folder of a zip, or of a file. */
interface Conversation {
  events: Event[];
  leaf: string | undefined;
  model: string | undefined;
}

const maxEvents = 200_000;

/** The events from the root to the leaf, and how many turns are on other branches. */
function activeBranch({ events, leaf }: Conversation): { branch: Event[]; others: number } {
  const places = new Map(events.map(({ id }, place) => [id, place]));
  const last = events.findLastIndex(({ kind }) => !besideTree.includes(kind));
  const active = new Set<number>();
  for (let at = (leaf === undefined ? undefined : places.get(leaf)) ?? last; at >= 0 && !active.has(at); ) {
    active.add(at);
    const { parent } = events[at] as Event;
    // Without a parent it follows the event before it, as all did once.
    at = parent === rootParent ? -1 : ((parent === undefined ? undefined : places.get(parent)) ?? at - 1);
  }
  const others = events.filter(({ turn }, at) => turn !== undefined && !active.has(at)).length;
  return { branch: events.filter((_, at) => active.has(at)), others };
}

function recordedOf(conversation: Conversation, id: string | undefined, leftOut: LeftOut): Recorded {
  conversation.events.sort((one, other) => one.order - other.order);
  const { branch, others } = activeBranch(conversation);
  leftOut.count("branch", others);
  const turns: Turn[] = [];
  const finishing = new Set<string | undefined>();
  let response: string | undefined;
  for (const { turn, response: of } of branch) {
    if (turn === undefined) continue;
    if (turn.by === "agent")
      for (const { id, name } of turn.calls ?? []) if (name === "finish") finishing.add(id);
    // The call that ends a run is answered with the agent's last words.
    const isEnd = turn.by === "answer" && turn.isError !== true && finishing.has(turn.of);
    const last = turns.at(-1);
    const isSame = of !== undefined && of === response;
    if (isSame && turn.by === "agent" && last?.by === "agent" && turn.calls && last.calls)
      turns[turns.length - 1] = { ...joinedTurn(last, turn), content: last.content ?? turn.content };
    else turns.push(isEnd ? { ...turn, done: true } : turn);
    response = of;
  }
  const tools = branch.findLast((event) => event.tools !== undefined)?.tools;
  return { trace: { id, turns, tools, tags: { model: conversation.model } } };
}

function openReader({ leftOut }: Pick<ReadOptions, "leftOut">): ReturnType<Layout["open"]> {
  const conversations = new Map<string, Conversation>();
  let count = 0;
  return {
    read(document) {
      const { entry } = document;
      const folder = (entry ?? "").replace(/[^/]*$/, "").replace(/(^|\/)(events\/)?$/, "");
      const conversation = conversations.get(folder) ?? { events: [], leaf: undefined, model: undefined };
      conversations.set(folder, conversation);
      const at = objectAt(document.value);
      if (isState(document)) {
        const { agent } = at.value;
        conversation.leaf = textIn(at.value, "leaf_event_id");
        conversation.model = isObject(agent) ? textIn(agent.llm, "model") : undefined;
        return [];
      }
      count += 1;
      if (count > maxEvents) throw new LineError(`There are more than ${maxEvents} events`, []);
      conversation.events.push(eventOf(at, entry, count, leftOut));
      return [];
    },
    *end() {
      const found = [...conversations].filter(([, { events }]) => events.length > 0);
      for (const [folder, conversation] of found)
        yield recordedOf(conversation, found.length > 1 ? folder || undefined : undefined, leftOut);
    },
  };
}

/** An event of OpenHands, as far as it is used. */
interface Event {
  id: string | undefined;
  parent: string | undefined;
  kind: string;
  order: number;
  /** Undefined if it is of no turn. */
  turn: Turn | undefined;
  /** Of the model's answer, whose calls are one turn. */
  response: string | undefined;
  tools: unknown;
}

/** `place` is its number in the file. */
function eventOf({ value, path }: At, entry: string | undefined, place: number, leftOut: LeftOut): Event {
  const kind = requiredText({ value, path }, "kind");
  const number = /event-(\d+)-[^/]*$/.exec(entry ?? "")?.[1];
  const turn = turnOf({ value, path }, kind);
  if (turn === undefined) leftOut.count("other_event");
  if (listIn(value, "extended_content").length > 0 || isObject(value.dynamic_context))
    leftOut.count("other_event");
  return {
    id: textIn(value, "id"),
    parent: textIn(value, "parent_id"),
    kind,
    order: number === undefined ? place : Number(number),
    turn,
    response: textIn(value, "llm_response_id"),
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

/** Reasoning as a text; where there is none, its blocks. */
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
      "events with `kind` (`ActionEvent`, …) and `source`: an array, lines, or a zip of `event-*.json`",
    trajectory: "the file; of several in a zip, the folder",
    action:
      "`ActionEvent.tool_call`; the calls of one `llm_response_id` are one turn; the agent's `MessageEvent`",
    answer:
      "`ObservationEvent.observation.content` by `tool_call_id`; `AgentErrorEvent` and `UserRejectObservation` as errors",
    context: "the user's first `MessageEvent`; `SystemPromptEvent.system_prompt` and `.tools`",
    also: "`timestamp`; done: a `finish` call that was answered without an error",
    left_out: "`thought`, reasoning, extended content, other events, turns of other branches (`parent_id`)",
    example: `[{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Find the key."}]}},{"kind":"ActionEvent","source":"agent","tool_call_id":"c1","tool_call":{"id":"c1","name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"}},{"kind":"ObservationEvent","source":"environment","tool_call_id":"c1","observation":{"content":[{"type":"text","text":"key.txt"}]}}]`,
  },
  recognises(document) {
    if (isState(document)) return "base_state.json";
    const kind = textIn(document.value, "kind");
    const source = textIn(document.value, "source");
    if (kind === undefined || !kinds.test(kind) || source === undefined || !sources.includes(source))
      return undefined;
    return `kind ${kind.slice(0, 60)} and source`;
  },
  open: openReader,
};
