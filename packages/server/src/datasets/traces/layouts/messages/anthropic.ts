import { isObject } from "../../content.ts";
import type { Layout } from "../../layout.ts";
import { callsIn, conversations, hasBlocks, isItem, messagesIn } from "../../messages.ts";

/** Whether a message has something that OpenAI's messages have and Anthropic's do not. */
function isOpenAis(message: unknown): boolean {
  if (isItem(message)) return true;
  return isObject(message) && (/^(tool|function)$/.test(String(message.role)) || callsIn(message).length > 0);
}

/** Requests of Anthropic's Messages API, with the assistant as the agent. */
export const anthropic: Layout = {
  format: "anthropic",
  version: 2,
  about: {
    title: "Anthropic's Messages API",
    recognised_by:
      "messages with blocks `tool_use` or `tool_result`, in `messages` or by themselves as one conversation",
    trajectory: "a line; `trajectory_id`, `id` or `item_id`, else `line-N`",
    action: "a block `tool_use`; without one, the assistant's text",
    answer: "the block `tool_result` with the call's id; after a text, the user's. `is_error` marks errors",
    context: "first user text; `tools`; `system`, a text or blocks",
    also: "nothing",
    left_out: "`thinking`, media, blocks of the server's own tools",
    example: `{"id":"run-1","system":"Be brief.","messages":[{"role":"user","content":"Find the key."},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"shell","input":{"cmd":"ls drawer"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"key.txt"}]}]}`,
  },
  recognises(document) {
    const messages = messagesIn(document) ?? [];
    for (const type of ["tool_use", "tool_result"])
      if (messages.some((message) => isObject(message) && hasBlocks(message.content, type)))
        return `messages with blocks ${type}`;
    return undefined;
  },
  admits: (document) => messagesIn(document)?.some(isOpenAis) === false,
  open: conversations(messagesIn, ({ system, tools, model }) => ({
    turns: typeof system === "string" || Array.isArray(system) ? [{ by: "system", content: system }] : [],
    tools,
    tags: { model: typeof model === "string" ? model : undefined },
  })),
};
