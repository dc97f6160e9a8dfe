import type { ReadSample } from "../../../formats.ts";
import { LineError } from "../../../upload/lines.ts";
import { canonicalJson, exactIn, idOf, isObject, numberIn, textIn, timeOf } from "../../content.ts";
import { type Layout, objectAt, type Recorded } from "../../layout.ts";
import { idIn, rewardIn } from "../../messages.ts";
import type { Trace, Turn } from "../../turns.ts";

type Value = Record<string, unknown>;

const lists = ["steps", "trajectory", "trace", "history"];
const before = ["state", "obs", "observation"];
const after = ["next_state", "next_obs", "next_observation"];
const tools = ["tool", "tool_name", "name", "function"];
const inputs = ["args", "tool_args", "arguments", "input", "tool_input", "parameters"];
const answers = ["observation", "result", "output"];
const ids = ["trajectory_id", "episode_id", "traj_id", "id"];

const firstOf = (value: Value, names: readonly string[]) =>
  names.find((name) => (value[name] ?? undefined) !== undefined);

/** A step from one state to the next. Presage's own lines have their action in `interaction`. */
function isTransition(value: unknown): value is Value {
  return (
    isObject(value) &&
    "action" in value &&
    firstOf(value, before) !== undefined &&
    firstOf(value, after) !== undefined
  );
}

/** An action and what it led to, in this order: an observation before its action is what the agent saw. */
function isStep(value: unknown): value is Value {
  if (!isObject(value) || firstOf(value, after) !== undefined) return false;
  const names = Object.keys(value);
  const action = names.findIndex((name) => name === "action" || name === "tool" || name === "tool_name");
  return action >= 0 && names.findIndex((name) => answers.includes(name)) > action;
}

function listOf(value: unknown): { name: string; list: Value[] } | undefined {
  for (const name of lists) {
    const list: unknown = isObject(value) ? value[name] : undefined;
    if (!Array.isArray(list) || list.length === 0) continue;
    if (
      list.every(isTransition) ||
      (list.every(isObject) && list.some(isStep) && list.every((one) => isStep(one) || "action" in one))
    )
      return { name, list };
  }
  return undefined;
}

/** An action as its tool and its input, if it has both. */
function callIn(action: unknown): { name: string; input: unknown } | undefined {
  if (!isObject(action)) return undefined;
  const name = textIn(action, firstOf(action, tools) ?? "");
  const input = firstOf(action, inputs);
  return name === undefined || input === undefined ? undefined : { name, input: action[input] };
}

function turnsOf(step: Value): Turn[] {
  const call = callIn(step.action ?? step);
  const thought = textIn(step, "thought");
  const answer = firstOf(step, answers);
  const content = answer === undefined ? undefined : exactIn(step, answer);
  const at = timeOf(step.timestamp);
  const facts = { content, at, reward: numberIn(step, "reward"), done: step.done === true || undefined };
  const agent: Turn = {
    by: "agent",
    reasoning: thought === undefined ? [] : [thought],
    ...(call === undefined ? { content: step.action } : { calls: [call] }),
  };
  if (answer === undefined) return [agent];
  return [agent, { by: call === undefined ? "environment" : "answer", ...facts }];
}

function traceOf(value: Value, list: readonly Value[]): Trace {
  const task = ["task", "goal", "instruction", "query", "question"]
    .map((name) => textIn(value, name))
    .find(Boolean);
  const said: Turn[] = task === undefined ? [] : [{ by: "environment", content: task }];
  return {
    id: idIn(value, ids),
    turns: [...said, ...list.flatMap(turnsOf)],
    reward: rewardIn(value, ["reward", "total_reward", "score", "success"]),
    tags: { task: idIn(value, ["task_id"]) },
  };
}

const textOf = (value: Value, name: string) => {
  const told = exactIn(value, name);
  return typeof told === "string" ? told : canonicalJson(told);
};

/** A transition as a sample, with the state that it names. */
function sampleOf(value: Value, place: { trajectory_id: string; step: number }): ReadSample {
  const call = callIn(value.action);
  const action =
    call === undefined ? textOf(value, "action") : canonicalJson({ input: call.input, tool: call.name });
  const state = textOf(value, firstOf(value, before) ?? "");
  const isDone = [value.done, value.terminated].includes(true);
  return {
    ...place,
    interaction: { state: state.trim() === "" ? "(no output)" : state, action: action.trim() },
    next_state: textOf(value, firstOf(value, after) ?? ""),
    reward: numberIn(value, "reward"),
    done: isDone || undefined,
    tags: { source: "steps" },
  };
}

/** Steps as agents' loops and environments log them. */
export const steps: Layout = {
  format: "steps",
  version: 1,
  about: {
    title: "Steps of an agent or an environment",
    recognised_by:
      "lines with `action`, one of `state`, `obs`, `observation`, and one of `next_state`, `next_obs`, `next_observation`; or `steps`, `trajectory`, `trace` or `history` of these, or of an `action` (or `tool` and `args`) followed by an `observation`, `result` or `output`",
    trajectory:
      "a line's list; `trajectory_id`, `episode_id` or `id`; of lines, those up to one that is `done`",
    action: "`action`; with a tool and its arguments, a call",
    answer: "the next state; or the step's `observation`, `result` or `output`",
    context: "`task`, `goal`, `instruction`, `query` or `question` next to the list",
    also: "`reward` and `done` of a step, `reward` or `score` of a list, `timestamp`",
    left_out: "`thought` (as reasoning), other fields",
    example: `{"episode_id":"e1","state":"The fridge is closed.","action":"open fridge","next_state":"The fridge is open.","reward":1,"done":true}`,
  },
  recognises: ({ value }) => {
    if (isTransition(value)) return "state, action and next state";
    const told = listOf(value);
    return told === undefined ? undefined : `${told.name} of actions and what they led to`;
  },
  open({ source, leftOut }) {
    const counts = new Map<string, number>();
    let ended = 0;
    function* samplesOf(value: Value, id: string | undefined): Generator<Recorded> {
      const trajectory_id = idOf(id ?? `${source ?? "episode"}-${ended + 1}`);
      const step = counts.get(trajectory_id) ?? 0;
      const sample = sampleOf(value, { trajectory_id, step });
      // As in all traces, an action with nothing in it makes no sample.
      if (sample.interaction?.action === "") return leftOut.count("other_event");
      counts.set(trajectory_id, step + 1);
      yield { sample };
    }
    return {
      *read(document) {
        const { value } = objectAt(document.value);
        if (isTransition(value)) {
          yield* samplesOf(value, idIn(value, ids));
          if (value.done === true || value.terminated === true || value.truncated === true) ended += 1;
          return;
        }
        const { list } = listOf(value) ?? {};
        if (list === undefined) throw new LineError("Field required", ["action"]);
        if (!list.every(isTransition)) return yield { trace: traceOf(value, list) };
        for (const one of list) yield* samplesOf(one, idIn(value, ids));
        ended += 1;
      },
    };
  },
};
