import { LineError } from "../../../upload/lines.ts";
import { fieldAt, isObject, type LeftOut, listIn, parsedText, textIn, timeOf } from "../../content.ts";
import {
  type At,
  eachDocument,
  type Layout,
  objectAt,
  objectsIn,
  optionalObjectsIn,
  type TraceDocument,
} from "../../layout.ts";
import { turnsOfMessage, usageIn } from "../../messages.ts";
import type { Trace, Turn } from "../../turns.ts";

/** The format of a run of mini-swe-agent. */
function miniForm(value: Record<string, unknown>): string | undefined {
  const form = textIn(value, "trajectory_format");
  return form?.startsWith("mini-swe-agent") ? form : undefined;
}

function recognises({ value }: TraceDocument): string | undefined {
  const mini = isObject(value) ? miniForm(value) : undefined;
  if (mini !== undefined) return `trajectory_format ${mini.slice(0, 40)}`;
  if (!isObject(value) || !Array.isArray(value.trajectory) || !isObject(value.info)) return undefined;
  const [first] = value.trajectory;
  if (first !== undefined && !(isObject(first) && "action" in first && "observation" in first))
    return undefined;
  return "trajectory of action and observation, and info";
}

/** The system's texts and the task: the last message to the agent before its first own message, ignoring demonstrations. */
function openingOf(document: At, leftOut: LeftOut): Turn[] {
  const history = optionalObjectsIn(document, "history").map(({ value }) => value);
  const own = history.filter(({ is_demo }) => is_demo !== true);
  leftOut.count("other_event", history.length - own.length);
  const begin = own.findIndex(({ role }) => role === "assistant");
  const opening = begin < 0 ? own : own.slice(0, begin);
  const task = opening.findLast(({ role }) => role === "user");
  return [
    ...opening
      .filter(({ role }) => role === "system")
      .map(({ content }): Turn => ({ by: "system", content })),
    ...(task === undefined ? [] : [{ by: "environment", content: task.content } as const]),
  ];
}

function turnsOfStep(step: At): Turn[] {
  const thought = textIn(step.value, "thought");
  return [
    { by: "agent", content: textOf(step, "action"), reasoning: thought === undefined ? [] : [thought] },
    { by: "environment", content: textOf(step, "observation") },
  ];
}

/** A text that may be empty. */
function textOf({ value, path }: At, name: string): string {
  const text = value[name];
  if (typeof text === "string") return text;
  if (text === null && name === "observation") return "";
  throw new LineError(text === undefined ? "Field required" : "Input should be a text", [...path, name]);
}

/** Tags from the run's configuration, which is stored as JSON text. */
function tagsOf({ replay_config }: Record<string, unknown>): NonNullable<Trace["tags"]> {
  const config = parsedText(replay_config);
  return { model: textIn(config, "agent.model.name"), task: textIn(config, "problem_statement.id") };
}

const usageNames = {
  prompt_tokens: "response.usage.prompt_tokens",
  completion_tokens: "response.usage.completion_tokens",
  cost_usd: "cost",
};

/** A run of mini-swe-agent: messages, the last of which says only that it has ended. */
function traceOfMini({ value }: At, leftOut: LeftOut): Trace {
  if (!Array.isArray(value.messages)) throw new LineError("Field required", ["messages"]);
  const turns = value.messages.flatMap((message: unknown, index) => {
    if (!isObject(message) || message.role !== "exit")
      return turnsOfMessage(message, ["messages", index], leftOut, ({ extra }) => ({
        at: timeOf(fieldAt(extra, "timestamp")),
        usage: usageIn(extra, usageNames),
      }));
    leftOut.count("other_event");
    return [];
  });
  return {
    turns,
    isDone: fieldAt(value.info, "exit_status") === "Submitted",
    tags: {
      model: textIn(value.info, "config.model.model_name"),
      task: textIn(value, "instance_id"),
    },
  };
}

/** Runs of SWE-agent, and of mini-swe-agent. */
export const sweAgent: Layout = {
  format: "swe-agent",
  version: 1,
  about: {
    title: "SWE-agent's trajectories",
    recognised_by:
      "`trajectory` of `{action, observation}`, and `info`; or mini-swe-agent's `trajectory_format`",
    trajectory: "the file",
    action: "`action`; of mini-swe-agent the assistant's calls or text",
    answer: "`observation`; the tool's or the user's message",
    context:
      "the last `user` of `history` before the first assistant, apart from demonstrations; its `system`",
    also: "done: `info.exit_status` is `submitted`; of mini-swe-agent also time and usage",
    left_out:
      "`thought` (as reasoning), `response`, `query`, `state`, demonstrations, attempts that were not chosen",
    example: `{"trajectory":[{"action":"ls drawer","observation":"key.txt","response":"I look.\\nls drawer","thought":"I look.","state":{},"execution_time":0.1}],"history":[{"role":"system","content":"You have a shell.","agent":"main"},{"role":"user","content":"Find the key.","agent":"main"}],"info":{"exit_status":"submitted"}}`,
  },
  recognises,
  open: eachDocument(function* ({ value }, { leftOut }) {
    const document = objectAt(value);
    if (miniForm(document.value) !== undefined) return yield { trace: traceOfMini(document, leftOut) };
    const steps = objectsIn(document, "trajectory");
    const info = objectAt(document.value.info, ["info"]).value;
    leftOut.count("branch", Math.max(0, listIn(value, "attempts").length - 1));
    yield {
      trace: {
        turns: [...openingOf(document, leftOut), ...steps.flatMap(turnsOfStep)],
        isDone: info.exit_status === "submitted",
        tags: tagsOf(document.value),
      },
    };
  }),
};
