import { type ReadSample, readChatTrajectory } from "../../../formats.ts";
import { LineError } from "../../../upload/lines.ts";
import { isObject, type LeftOut, listIn, textIn } from "../../content.ts";
import { eachDocument, type Layout } from "../../layout.ts";
import { callsIn, idIn, rewardIn, turnsOfMessage, withTaggedCalls } from "../../messages.ts";
import type { Trace, Turn } from "../../turns.ts";

type Message = Record<string, unknown>;

/** The speakers of turns, by the names in use. */
const roles = new Map<unknown, string>([
  ["system", "system"],
  ["human", "user"],
  ["user", "user"],
  ["gpt", "assistant"],
  ["assistant", "assistant"],
  ["function_call", "call"],
  ["function-call", "call"],
  ["tool_call", "call"],
  ["observation", "tool"],
  ["function_response", "tool"],
  ["function-response", "tool"],
  ["tool_response", "tool"],
  ["function", "tool"],
  ["tool", "tool"],
]);

/** The turns of a conversation as messages. The role `call` is an assistant whose text is its calls. */
function messagesOf({ conversations }: Message): Message[] {
  if (!Array.isArray(conversations)) throw new LineError("Field required", ["conversations"]);
  return conversations.map((turn: unknown, index) => {
    if (!isObject(turn)) throw new LineError("Input should be an object", ["conversations", index]);
    const name = turn.from === undefined ? "role" : "from";
    const role = roles.get(turn[name]);
    if (role !== undefined) return { ...turn, role, content: turn.value ?? turn.content };
    const reason = `Input should be one of ${[...roles.keys()].join(", ")}`;
    throw new LineError(turn[name] === undefined ? "Field required" : reason, ["conversations", index, name]);
  });
}

const isOfAgent = ({ role }: Message) => role === "assistant" || role === "call";
const isLost = (message: Message) => isOfAgent(message) && message.loss === false;

function traceOf(value: Message, leftOut: LeftOut): Trace {
  const messages = messagesOf(value);
  const first = messages.findIndex((message) => isOfAgent(message) && !isLost(message));
  // The agent is told its task before a turn that it did not write itself.
  const told = messages.slice(0, first < 0 ? messages.length : first).findLastIndex(isLost) + 1;
  const task = messages.slice(0, told).flatMap(({ role, content }) => (role === "user" ? [content] : []));
  const turns: Turn[] = typeof value.system === "string" ? [{ by: "system", content: value.system }] : [];
  let hasCalls = false;
  for (const [index, message] of messages.entries()) {
    if (index < told && isLost(message)) leftOut.count("turn_without_loss");
    else if (index >= told || message.role !== "user") {
      const made = turnsOf(message, index, hasCalls, leftOut);
      if (isOfAgent(message)) hasCalls = made.some((turn) => turn.by === "agent" && turn.calls?.length);
      turns.push(...made);
    }
  }
  return {
    id: idIn(value, ["item_id", "id", "trajectory_id"]),
    turns: withTaggedCalls(turns),
    task: task.filter((text) => typeof text === "string").join("\n\n") || undefined,
    tools: value.tools,
    reward: rewardIn(value, ["reward", "success"]),
  };
}

function turnsOf(message: Message, index: number, hasCalls: boolean, leftOut: LeftOut): Turn[] {
  const { role, content } = message;
  if (role === "tool" && !hasCalls) return [{ by: "environment", content }];
  const isCalls = role === "call" && callsIn({ tool_calls: content }).length > 0;
  const told = role === "call" ? { ...message, role: "assistant" } : message;
  const made = isCalls ? { ...told, content: undefined, tool_calls: content } : told;
  return turnsOfMessage(made, ["conversations", index], leftOut);
}

/** The same as a chat whose assistant is the environment. */
function* readAsChat(value: Message, line: number): Generator<ReadSample, void> {
  const system = textIn(value, "system");
  const messages = messagesOf(value);
  if (system !== undefined) messages.unshift({ role: "system", content: system });
  try {
    yield* readChatTrajectory({ ...value, messages }, line);
  } catch (error) {
    if (!(error instanceof LineError) || error.path[0] !== "messages") throw error;
    const [, index, ...path] = error.path;
    const place = typeof index === "number" ? [system === undefined ? index : index - 1] : [];
    throw new LineError(error.message, ["conversations", ...place, ...path]);
  }
}

/** Conversations in ShareGPT's form, as AgentGym and Word2World use it, with the assistant as the agent. */
export const sharegpt: Layout = {
  format: "sharegpt",
  version: 3,
  assistantIs: "agent",
  about: {
    title: "ShareGPT (AgentGym, Word2World)",
    recognised_by: "`conversations` of `from` and `value`, or of `role` and `content`",
    trajectory: "a line; `item_id` or `id`",
    action:
      "a turn of `gpt` or `assistant`, or its calls in `<tool_call>`; the calls of a turn of `function_call`",
    answer:
      "the turns of `human`, `user`, `observation`, `function_response` or `tool` until the next action; of calls, the parts in `<tool_response>`",
    context: "first human text; `tools`; `system`, a field or turns",
    also: "reward from the line's `reward` or `success`",
    left_out: "turns with `loss: false`; before the first action, the human text before them is the task",
    example: `{"item_id":"kitchen_1","conversations":[{"from":"human","loss":null,"value":"You are in a kitchen."},{"from":"gpt","loss":false,"value":"OK."},{"from":"human","loss":null,"value":"The fridge is closed."},{"from":"gpt","loss":true,"value":"Thought: I want milk.\\nAction: open fridge"},{"from":"human","loss":null,"value":"The fridge is open. It contains milk."}],"reward":1.0,"success":1}`,
  },
  recognises({ value }) {
    const turns = listIn(value, "conversations");
    const has = (names: readonly string[]) =>
      turns.some((turn: unknown) => isObject(turn) && names.every((name) => name in turn));
    if (has(["from", "value"])) return "conversations of from and value";
    return has(["role", "content"]) ? "conversations of role and content" : undefined;
  },
  admits: ({ value }) => isObject(value) && Array.isArray(value.conversations),
  open: eachDocument(function* ({ value, place }, { assistantIs, leftOut }) {
    if (!isObject(value)) throw new LineError("Input should be an object");
    if (assistantIs !== "environment") yield { trace: traceOf(value, leftOut) };
    else yield { conversation: [...readAsChat(value, place[1])] };
  }),
};
