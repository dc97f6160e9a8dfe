import { LineError } from "../../../upload/lines.ts";
import { isObject, type LeftOut, listIn, numberIn, textIn, timeOf } from "../../content.ts";
import { eachDocument, type Layout, type TraceDocument } from "../../layout.ts";
import { callsIn, idIn, turnsOfMessage, usageIn } from "../../messages.ts";
import type { Trace, Turn } from "../../turns.ts";

const usageNames = {
  prompt_tokens: "usage.prompt_tokens",
  completion_tokens: "usage.completion_tokens",
  cost_usd: "cost",
};

/** A simulation as a trajectory. `info` is what its file says about all simulations. */
function traceOf(value: Record<string, unknown>, info: unknown, leftOut: LeftOut): Trace {
  const agent = isObject(info) ? info.agent_info : undefined;
  const environment = isObject(info) && isObject(info.environment_info) ? info.environment_info : {};
  const policy = textIn(value, "policy") ?? textIn(environment, "policy");
  const { termination_reason } = value;
  return {
    id: idIn(value, ["id"]) ?? runOf(value),
    turns: [
      ...(policy === undefined ? [] : [{ by: "system" as const, content: policy }]),
      ...turnsOfAll(value, leftOut),
    ],
    tools: environment.tool_defs,
    reward: numberIn(value.reward_info, "reward") ?? numberIn(value, "reward"),
    isDone: termination_reason === "user_stop" || termination_reason === "agent_stop",
    tags: {
      model: textIn(agent, "llm"),
      agent: textIn(agent, "implementation"),
      task: idIn(value, ["task_id"]),
    },
  };
}

/** τ-bench's first version names its runs by task and trial. */
function runOf(value: Record<string, unknown>): string | undefined {
  const task = idIn(value, ["task_id"]);
  const trial = idIn(value, ["trial"]);
  return task === undefined || trial === undefined ? task : `${task}/${trial}`;
}

function turnsOfAll(value: Record<string, unknown>, leftOut: LeftOut): Turn[] {
  const { messages = value.traj } = value;
  if (messages === undefined || messages === null) {
    // A voice simulation may have only ticks.
    leftOut.count("other_event", listIn(value, "ticks").length);
    return [];
  }
  if (!Array.isArray(messages)) throw new LineError("Input should be a list", ["messages"]);
  return messages.flatMap((message: unknown, index) => {
    const several = listIn(message, "tool_messages");
    return (several.length > 0 ? several : [message]).flatMap((one) => turnsOf(one, index, leftOut));
  });
}

/** The turns of a message. What the simulated user does with its own tools is not shown to the agent. */
function turnsOf(message: unknown, index: number, leftOut: LeftOut): Turn[] {
  const path = ["messages", index];
  if (!isObject(message)) throw new LineError("Input should be an object", path);
  if (message.role === "tool" && message.requestor === "user") return [];
  const own = message.role === "user" ? callsIn(message).length : 0;
  leftOut.count("call_of_simulated_user", own);
  if (own > 0 && textIn(message, "content") === undefined) return [];
  const said = message.is_audio === true ? { ...message, content: [{ type: "audio" }] } : message;
  return turnsOfMessage(said, path, leftOut, () => ({
    at: timeOf(message.timestamp),
    usage: usageIn(message, usageNames),
  }));
}

function reasonOf({ value, within }: TraceDocument): string | undefined {
  if (!isObject(value) || !("task_id" in value)) return undefined;
  if (Array.isArray(value.traj) && "reward" in value) return "task_id, traj and reward";
  if (!("messages" in value)) return undefined;
  if (within === "simulations") return "simulations of task_id and messages";
  return "reward_info" in value && "termination_reason" in value ? "a simulation" : undefined;
}

/** Results of tau-bench and tau2-bench: simulations of an agent, a user and a domain's tools. */
export const tau: Layout = {
  format: "tau",
  version: 2,
  about: {
    title: "τ²-bench and τ-bench",
    recognised_by:
      "`simulations` of `task_id` and `messages`, with `info` (before them in a file over 4 MiB); or one simulation with `reward_info` and `termination_reason`; or τ-bench's `task_id`, `traj` and `reward`",
    trajectory: "a simulation; `id`, or `task_id` and `trial`",
    action: "the assistant's `tool_calls`; without calls, its `content`",
    answer:
      "the message of role `tool` with the call's `id`; after a text, the simulated user's. `error` marks errors",
    context: "first user text; `info.environment_info.policy` and `tool_defs`",
    also: "`reward_info.reward`, or `reward`; the end if `termination_reason` is `user_stop` or `agent_stop`; `timestamp`; `usage`, `cost`",
    left_out: "calls of the simulated user's and their answers, `ticks` of voice",
    example: `{"timestamp":"2026-01-01T10:00:00","info":{"agent_info":{"implementation":"llm_agent","llm":"model-1"},"environment_info":{"domain_name":"telecom","policy":"Be polite."}},"tasks":[],"simulations":[{"id":"sim-1","task_id":"7","termination_reason":"user_stop","reward_info":{"reward":1.0},"messages":[{"role":"user","content":"My phone is offline.","timestamp":"2026-01-01T10:00:01"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","name":"get_line","arguments":{"number":7},"requestor":"assistant"}],"usage":{"prompt_tokens":12,"completion_tokens":5},"cost":0.01},{"role":"tool","id":"c1","content":"off","requestor":"assistant","error":false,"timestamp":"2026-01-01T10:00:03"}]}]}`,
  },
  recognises: reasonOf,
  open: eachDocument(function* ({ value, envelope }, { leftOut }) {
    if (!isObject(value)) throw new LineError("Input should be an object");
    if (!("messages" in value || "traj" in value)) throw new LineError("Field required", ["messages"]);
    yield { trace: traceOf(value, envelope?.info, leftOut) };
  }),
};
