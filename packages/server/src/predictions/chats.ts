import {
  ChatCompletionRequest,
  OpenAiChatCompletionRequest,
  type OpenAiChatMessage,
} from "@presage/contract";
import type { CallWithCaller } from "../http/call.ts";
import { readExactBytes } from "../http/request.ts";
import { eventStreamHeaders } from "../http/response.ts";
import { InvalidRequestError, missing } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { withoutNulls } from "../platform/words.ts";
import { isObject } from "../upstream/failures.ts";
import type { CompletionBody, UpstreamCompletion } from "../upstream/upstream.ts";
import { type ChatRequest, isSet, setFields } from "./predict.ts";

/** A chat, and how its completion is sent. */
interface ReadChat {
  body: ChatRequest;
  respond(completion: UpstreamCompletion): Response;
}

export async function readStrictChat(call: CallWithCaller, bytes: Uint8Array): Promise<ReadChat> {
  const body = await readExactBytes(call, ChatCompletionRequest, bytes);
  refuseStreaming(body.stream);
  return { body, respond: chatResponse };
}

export async function readOpenAiChat(call: CallWithCaller, bytes: Uint8Array): Promise<ReadChat> {
  const sent = await readExactBytes(call, OpenAiChatCompletionRequest, bytes);
  const includesUsage = sent.stream_options?.include_usage === true;
  const respond = sent.stream
    ? (completion: UpstreamCompletion) => streamedChat(completion, includesUsage)
    : chatResponse;
  return { body: fromOpenAi(sent), respond };
}

export function chatResponse({ bytes }: UpstreamCompletion): Response {
  return new Response(bytes, { headers: { "content-type": "application/json" } });
}

export function refuseStreaming(stream: unknown): void {
  if (stream === true) throw new ServiceError("unsupported", "Streaming is not supported.");
}

/** The sandbox would answer as if these had not been sent. */
export function refuseIgnored(request: ChatRequest): void {
  const { n, tools, response_format: format } = setFields(request);
  const ignored = {
    "`n` above 1": Number(n ?? 1) > 1,
    "`tools`": Array.isArray(tools) && tools.length > 0,
    "`response_format`": isSet(format) && Object(format).type !== "text",
  };
  const names = Object.entries(ignored).flatMap(([name, isSet]) => (isSet ? [name] : []));
  if (names.length === 0) return;
  throw new ServiceError(
    "unsupported",
    `The sandbox is not a language model: it has no ${names.join(", ")}.`,
  );
}

/** Each of the two modes needs a field, which the schema cannot express. */
export function refuseIncomplete(request: ChatRequest): void {
  const isStructured = isSet(request.context) || isSet(request.interaction);
  const isComplete = isStructured ? isSet(request.interaction) : (request.messages ?? []).length > 0;
  if (isComplete) return;
  throw new InvalidRequestError([missing(["body", isStructured ? "interaction" : "messages"], request)]);
}

/** The chat that OpenAI's clients mean, as the contract has it. Messages of tools, which it does not have, are forwarded. */
function fromOpenAi({ messages, stream_options: _, ...body }: OpenAiChatCompletionRequest): ChatRequest {
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
function streamedChat({ bytes }: UpstreamCompletion, includesUsage: boolean): Response {
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
