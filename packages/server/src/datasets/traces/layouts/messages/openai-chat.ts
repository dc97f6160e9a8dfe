import { isObject, statedIn, textIn } from "../../content.ts";
import type { Layout, TraceDocument } from "../../layout.ts";
import { callsIn, conversations, isItem, messagesField, messagesIn, rewardIn } from "../../messages.ts";

/** The names under which agents' frameworks keep a conversation; AgentBench's is the last. */
const names = ["messages", "conversation", "history", "trajectory", "traj", "turns", "output.history"];

const messagesOf = (document: TraceDocument) => messagesIn(document, names);

/** What only an agent's chat has. */
function reasonOf(messages: readonly unknown[]): string | undefined {
  for (const message of messages) {
    if (!isObject(message)) continue;
    if (callsIn(message).length > 0) return "messages with tool calls";
    if (message.role === "tool" || message.role === "function") return "messages of tools";
    if (Array.isArray(message.content)) return "messages with content parts";
    if ("loss" in message) return "messages with loss";
    if (message.role === "assistant" && textIn(message, "content")?.includes("<tool_call>"))
      return "messages with <tool_call>";
  }
  return undefined;
}

/** Chats as OpenAI's Chat Completions have them, with the assistant as the agent. */
export const openAiChat: Layout = {
  format: "openai-chat",
  version: 4,
  about: {
    title: "OpenAI's Chat Completions",
    recognised_by:
      "`messages` with `tool_calls`, a message of role `tool` or `function`, content parts, `loss` or `<tool_call>`; messages in `conversation`, `history`, `trajectory`, `traj`, `turns` or AgentBench's `output.history`, or by themselves as one conversation",
    trajectory: "a line; `trajectory_id`, `id` or `item_id`, else `line-N`",
    action:
      "`tool_calls[].function`, `function_call`, or the calls in `<tool_call>` of a text; without calls, the assistant's text",
    answer: "the message of role `tool` with the call's `tool_call_id`; after a text, the user's",
    context: "first user message; `tools`; `system` and `developer` messages",
    also: "reward from the line's `reward`, `score` or `success`",
    left_out: "refusals, `audio`, reasoning, media, turns with `loss: false`",
    example: `{"id":"run-1","messages":[{"role":"user","content":"Find the key."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"key.txt"}]}`,
  },
  recognises(document) {
    const messages = messagesOf(document);
    if (messages === undefined) return undefined;
    if (statedIn(document.value) !== undefined) return "messages with `extra.presage`";
    const name = messagesField(document.value, names);
    if (name === undefined) return "messages by themselves, as one conversation; the assistant is the agent";
    const reason = reasonOf(messages);
    if (name === "messages") return reason;
    return reason === undefined ? `${name}; the assistant is the agent` : name;
  },
  admits: (document) => messagesOf(document)?.some(isItem) === false,
  open: conversations(messagesOf, (value) => ({
    tools: value.tools ?? value.functions,
    reward: rewardIn(value),
    stated: statedIn(value),
  })),
};
