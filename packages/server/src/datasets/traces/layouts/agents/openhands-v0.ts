import { LineError } from "../../../upload/lines.ts";
import { exactIn, fieldAt, isObject, type LeftOut, listIn, refIn, textIn, timeOf } from "../../content.ts";
import { type Layout, maxHeldBytes, tooLong } from "../../layout.ts";
import { callsIn, idIn, rewardIn, usageIn } from "../../messages.ts";
import { joinedTurns, type Part, type Trace, type Turn } from "../../turns.ts";

type Value = Record<string, unknown>;

const usageNames = { prompt_tokens: "prompt_tokens", completion_tokens: "completion_tokens" };
/** Fields of an action that are not what the agent wrote into its call. */
const notInput =
  /^(id|timestamp|source|message|action|args|cause|timeout|tool_call_metadata|llm_metrics|thought|blocking|hidden|keep_prompt|is_confirmed|confirmation_state|action_risk|security_risk|translated_ipython_code|impl_source|images?_urls)$/;
/** What OpenHands does by itself, and tells about itself. */
const own =
  /^(recall|change_agent_state|agent_state_changed|null|condensation|condensation_request|condense)$/;

/** Whether a value is an action or an observation; SWE-agent's steps are both in one. */
function isEvent(value: unknown): value is Value {
  return isObject(value) && (typeof value.action === "string") !== (typeof value.observation === "string");
}

/** An event by itself, as trajectory files have them. Histories of evaluations have events without a source. */
const isLone = (value: unknown) =>
  isEvent(value) &&
  /^(agent|user|environment)$/.test(String(value.source)) &&
  ["args", "extras", "cause"].some((name) => name in value);

function historyOf(value: unknown): Value[] | undefined {
  const events = listIn(value, "history").flat();
  return events.length > 0 && events.every(isEvent) ? events : undefined;
}

/** The agent's call, with the arguments as the model wrote them, if its response is there. */
function partOfAction(event: Value): Part {
  const { tool_call_metadata: told } = event;
  const args = isObject(event.args) ? event.args : event;
  const response = fieldAt(told, "model_response");
  const [choice] = listIn(response, "choices");
  const message = fieldAt(choice, "message");
  const id = refIn(told, "tool_call_id") ?? refIn(event, "id");
  const written = isObject(message) ? callsIn(message).find((call) => call.id === id) : undefined;
  const input = Object.fromEntries(Object.entries(args).filter(([name]) => !notInput.test(name)));
  const name = textIn(told, "function_name") ?? String(event.action);
  const reasoning = textIn(message, "reasoning_content");
  return {
    message: textIn(response, "id"),
    turns: [
      {
        by: "agent",
        content: textIn(args, "thought"),
        calls: [written ?? { id, name, input }],
        reasoning: reasoning === undefined ? [] : [reasoning],
        usage: usageIn(fieldAt(response, "usage"), usageNames),
        model: textIn(response, "model"),
      },
    ],
  };
}

function partOf(event: Value, callOf: Map<string, string>, leftOut: LeftOut): Part {
  const alone = (...turns: Turn[]): Part => ({ message: undefined, turns });
  const at = timeOf(event.timestamp);
  const { action, observation, source } = event;
  if (own.test(String(action ?? observation))) {
    leftOut.count("other_event");
    return alone();
  }
  if (typeof observation === "string") {
    const cause = refIn(event, "cause") ?? "";
    const of = refIn(event.tool_call_metadata, "tool_call_id") ?? callOf.get(cause);
    return alone({
      by: "answer",
      of,
      content: exactIn(event, "content"),
      isError: observation === "error",
      at,
    });
  }
  const content = exactIn(isObject(event.args) ? event.args : event, "content");
  if (action === "system") return alone({ by: "system", content });
  if (action !== "message") {
    const part = partOfAction(event);
    const [turn] = part.turns;
    const id = turn?.by === "agent" ? turn.calls?.[0]?.id : undefined;
    if (id !== undefined) callOf.set(refIn(event, "id") ?? "", id);
    return part;
  }
  // Only the agent waits for an answer; in an old history, nothing else says whose message it is.
  const waits = fieldAt(event, "wait_for_response") === true;
  return alone(
    source === "agent" || (source === undefined && waits)
      ? { by: "agent", content }
      : { by: "environment", content, at },
  );
}

function traceOf(events: readonly Value[], leftOut: LeftOut): Trace {
  const callOf = new Map<string, string>();
  const turns = joinedTurns(events.map((event) => partOf(event, callOf, leftOut)));
  const system = events.find(({ action }) => action === "system");
  return {
    turns,
    tools: fieldAt(system, "args.tools"),
    isDone: events.some(({ action }) => action === "finish"),
  };
}

/** The events of OpenHands before its software agent SDK, and the outputs of its evaluations. */
export const openHandsV0: Layout = {
  format: "openhands-v0",
  version: 1,
  about: {
    title: "OpenHands' events before its SDK",
    recognised_by:
      "lines with a `history` of events with an `action` or an `observation` (its evaluations' `output.jsonl`); or such events by themselves, with `source`, as one conversation",
    trajectory: "a line; `instance_id`; or the file",
    action:
      "an event's `tool_call_metadata`, else `action` and `args`; the calls of one `model_response` are one turn; the agent's `message`",
    answer: "the observation's `content` by `tool_call_id` or `cause`, else in order; `error` is an error",
    context: "the user's first `message`; the `system` action's `content` and `tools`",
    also: "`timestamp`; usage and model from `model_response`; reward from `report.resolved`; done: a `finish`",
    left_out: "`thought`, reasoning, `recall` and other events of its own",
    example: `[{"id":1,"source":"user","action":"message","args":{"content":"Find the key."}},{"id":2,"source":"agent","action":"run","args":{"command":"ls drawer","thought":"I look."}},{"id":3,"source":"agent","cause":2,"observation":"run","content":"key.txt","extras":{}}]`,
  },
  recognises: ({ value }) => {
    if (historyOf(value) !== undefined) return "history of actions and observations";
    return isLone(value) ? "actions and observations by themselves, as one conversation" : undefined;
  },
  open({ leftOut }) {
    const events: Value[] = [];
    let held = 0;
    return {
      *read({ value, bytes, place }) {
        const history = historyOf(value);
        if (history !== undefined && isObject(value)) {
          const id = idIn(value, ["instance_id", "id"]) ?? `line-${place[1]}`;
          const results = { ...Object(fieldAt(value, "test_result.report")), ...Object(value.report) };
          const reward = rewardIn(results, ["resolved"]);
          const tags = { task: textIn(value, "instance_id"), agent: textIn(value, "metadata.agent_class") };
          yield { trace: { id, reward, tags, ...traceOf(history, leftOut) } };
          return;
        }
        if (!isEvent(value)) throw new LineError("Field required", ["history"]);
        if (held > maxHeldBytes) return;
        held += bytes;
        events.push(value);
        if (held <= maxHeldBytes) return;
        events.length = 0;
        throw tooLong("The conversation");
      },
      *end() {
        if (events.length > 0) yield { trace: traceOf(events, leftOut) };
      },
    };
  },
};
