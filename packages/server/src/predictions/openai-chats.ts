import type { OpenAiChatCompletionRequest, OpenAiChatMessage } from "@presage/contract";
import { eventStreamHeaders } from "../http/response.ts";
import { isObject } from "../upstream/failures.ts";
import type { CompletionBody, UpstreamCompletion } from "../upstream/upstream.ts";
import { type ChatRequest, withoutNulls } from "./predict.ts";

/** The chat that OpenAI's clients mean, as the contract has it. Messages of tools, which it does not have, are forwarded. */
export function fromOpenAi({
  messages,
  stream_options: _,
  ...body
}: OpenAiChatCompletionRequest): ChatRequest {
  return messages ? { ...body, messages: messages.map(fromOpenAiMessage) } : body;
}

function fromOpenAiMessage({ role, content, ...message }: OpenAiChatMessage) {
  return {
    role: role === "developer" ? "system" : role,
    ...(content === undefined ? {} : { content: textOf(content) }),
    ...withoutNulls(message),
  };
}

/** Model servers join the parts of a text in this way too. */
function textOf(content: NonNullable<OpenAiChatMessage["content"]> | null): string | null {
  return Array.isArray(content) ? content.map(({ text }) => text).join("\n") : content;
}

/** A finished completion as the events of a stream: a chunk for each choice, the usage if it is asked for and known, and the end. */
export function streamedChat({ bytes }: UpstreamCompletion, includesUsage: boolean): Response {
  // Of a completion from the cache, `body` has only a part.
  const { choices, usage, ...head } = JSON.parse(new TextDecoder().decode(bytes)) as CompletionBody;
  const event = (more: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...more })}\n\n`;
  const events = choices.filter(isObject).map(({ message, ...choice }, index) =>
    event({
      choices: [{ index, ...choice, delta: toDelta(message) }],
      ...(includesUsage ? { usage: null } : {}),
    }),
  );
  if (includesUsage && usage) events.push(event({ choices: [], usage }));
  return new Response(`${events.join("")}data: [DONE]\n\n`, { headers: eventStreamHeaders });
}

/** In a stream, calls of tools are numbered. */
function toDelta(message: Record<string, unknown>): Record<string, unknown> {
  const { tool_calls: calls } = message;
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call: object, index) => ({ index, ...call })) }
    : {};
  return { role: "assistant", ...message, ...numbered };
}
