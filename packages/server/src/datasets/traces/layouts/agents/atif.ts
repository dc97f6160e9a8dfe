import { LineError } from "../../../upload/lines.ts";
import { exactIn, isObject, refIn, statedIn, textIn, timeOf } from "../../content.ts";
import {
  type At,
  eachDocument,
  type Layout,
  objectAt,
  objectsIn,
  optionalObjectsIn,
  requiredText,
  type TraceDocument,
} from "../../layout.ts";
import { rewardIn, usageIn } from "../../messages.ts";
import type { Trace, Turn } from "../../turns.ts";

const rewardNames = ["reward"];
const metricNames = {
  prompt_tokens: "prompt_tokens",
  completion_tokens: "completion_tokens",
  cached_tokens: "cached_tokens",
  cost_usd: "cost_usd",
};

const versionOf = ({ value }: TraceDocument) => {
  const version = textIn(value, "schema_version");
  return version?.startsWith("ATIF-v1.") ? version : undefined;
};

/** The trajectory of a document, and those of its subagents, which share its session unless they name another. */
function tracesOf(trajectory: At, session: string | undefined): Trace[] {
  const { value } = trajectory;
  const own = textIn(value, "session_id") ?? session;
  const ids = [own, textIn(value, "trajectory_id")].filter((id) => id !== undefined);
  const { agent, final_metrics } = value;
  const main = {
    id: ids.join("/") || undefined,
    turns: objectsIn(trajectory, "steps").flatMap(turnsOf),
    tools: isObject(agent) ? agent.tool_definitions : undefined,
    reward: rewardIn(extraOf(final_metrics), rewardNames),
    tags: { agent: textIn(agent, "name"), model: textIn(agent, "model_name") },
    stated: statedIn(value),
  };
  const subagents = optionalObjectsIn(trajectory, "subagent_trajectories");
  return [main, ...subagents.flatMap((subagent) => tracesOf(subagent, own))];
}

function turnsOf(step: At): Turn[] {
  const { value } = step;
  const { source, message } = value;
  const at = timeOf(value.timestamp);
  if (source === "system") return [{ by: "system", content: message }, ...answersOf(step, 0)];
  if (source === "user") return [{ by: "environment", content: message, at }, ...answersOf(step, 0)];
  if (source !== "agent")
    throw new LineError(source === undefined ? "Field required" : "Input should be system, user or agent", [
      ...step.path,
      "source",
    ]);
  const calls = optionalObjectsIn(step, "tool_calls").map((call) => ({
    id: refIn(call.value, "tool_call_id"),
    name: requiredText(call, "function_name"),
    input: call.value.arguments,
  }));
  const reasoning = textIn(value, "reasoning_content");
  const extra = extraOf(value);
  const turn: Turn = {
    by: "agent",
    content: message,
    calls,
    reasoning: reasoning === undefined ? [] : [reasoning],
    usage: usageIn(value.metrics, metricNames),
    model: textIn(value, "model_name"),
    reward: rewardIn(extra, rewardNames),
    done: extra.done === true ? true : undefined,
    leftOutAs: value.is_copied_context === true ? "other_event" : undefined,
  };
  return [turn, ...answersOf(step, calls.length)];
}

/** What a step's calls returned; without calls, what its text led to. */
function answersOf({ value, path }: At, calls: number): Turn[] {
  if (value.observation === undefined || value.observation === null) return [];
  const at = timeOf(value.timestamp);
  const results = objectsIn(objectAt(value.observation, [...path, "observation"]), "results").map(
    ({ value }) => ({ of: refIn(value, "source_call_id"), content: exactIn(value, "content") }),
  );
  // Results that name no call belong to the calls that no other result names.
  if (calls > 0) results.sort((one, other) => Number(one.of === undefined) - Number(other.of === undefined));
  return results.map(({ of, content }) =>
    calls === 0 && of === undefined ? { by: "environment", content, at } : { by: "answer", of, content, at },
  );
}

function extraOf(value: unknown): Record<string, unknown> {
  const extra = isObject(value) ? value.extra : undefined;
  return isObject(extra) ? extra : {};
}

/** Harbor's Agent Trajectory Interchange Format. */
export const atif: Layout = {
  format: "atif",
  version: 1,
  about: {
    title: "ATIF",
    recognised_by: "`schema_version` that begins with `ATIF-v1.`",
    trajectory:
      "a document; `session_id/trajectory_id`, as far as there. Subagents' are trajectories of their own",
    action: "`steps[].tool_calls[]` of `source: agent`; without calls, `message`",
    answer: "`observation.results[]` by `source_call_id`, else in order",
    context: "first `user` step; `agent.tool_definitions`; `system` steps",
    also: "`timestamp`; `metrics` as usage; `extra.reward` of a step or of `final_metrics`; `extra.done` of a step",
    left_out: "`reasoning_content`, token ids, logprobs, steps with `is_copied_context` (states only), media",
    example: `{"schema_version":"ATIF-v1.7","session_id":"run-88","agent":{"name":"finder","version":"1.0"},"steps":[{"step_id":1,"source":"user","message":"Find the key."},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"shell","arguments":{"cmd":"ls drawer"}}],"observation":{"results":[{"source_call_id":"c1","content":"key.txt"}]}}]}`,
  },
  recognises(document) {
    const version = versionOf(document);
    return version && `schema_version ${version.slice(0, 20)}`;
  },
  open: eachDocument(function* (document) {
    const trajectory = objectAt(document.value);
    if (versionOf(document) === undefined)
      throw new LineError("Input should begin with `ATIF-v1.`", ["schema_version"]);
    for (const trace of tracesOf(trajectory, undefined)) yield { trace };
  }),
};
