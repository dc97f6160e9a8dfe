import { isObject, textIn } from "../../content.ts";
import type { Layout, TraceDocument } from "../../layout.ts";
import { conversations, isItem, messagesIn } from "../../messages.ts";

/** The items of a request and of its response. */
function itemsOf(document: TraceDocument): readonly unknown[] | undefined {
  const asked = textIn(document.value, "input");
  const input = messagesIn(document, ["input", "items", "messages"]);
  if (!isObject(document.value) || document.value.output === undefined) return input;
  const output = messagesIn(document, ["output"]) ?? [];
  return [...(asked === undefined ? (input ?? []) : [{ role: "user", content: asked }]), ...output];
}

/** Requests and responses of OpenAI's Responses API, and the items that its clients keep of them. */
export const openAiResponses: Layout = {
  format: "openai-responses",
  version: 1,
  about: {
    title: "OpenAI's Responses API",
    recognised_by:
      "items `function_call` or `function_call_output` (also `custom_tool_call`, …): in `input` and `output`, in `items` or `messages`, or by themselves as one conversation",
    trajectory: "a line; `trajectory_id`, `id` or `item_id`, else `line-N`",
    action: "`function_call` with `name` and `arguments`; without calls, the assistant's text",
    answer: "`function_call_output` with the `call_id`; after a text, the user's",
    context: "first user message; `tools`; `instructions`, and `system` and `developer` messages",
    also: "`model`",
    left_out: "`reasoning`, what the provider's own tools did, media",
    example: `{"id":"run-1","tools":[],"input":[{"role":"user","content":"Find the key."},{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"},{"type":"function_call_output","call_id":"c1","output":"key.txt"}]}`,
  },
  recognises: (document) =>
    itemsOf(document)?.some((item) => isItem(item) && textIn(item, "call_id") !== undefined)
      ? "items with call_id"
      : undefined,
  admits: (document) => itemsOf(document) !== undefined,
  open: conversations(itemsOf, ({ instructions, tools, model }) => ({
    turns: typeof instructions === "string" ? [{ by: "system", content: instructions }] : [],
    tools,
    tags: { model: typeof model === "string" ? model : undefined },
  })),
};
