import {
  ChatCompletionRequest,
  OpenAiChatCompletionRequest,
  type OpenAiChatMessage,
  type PromptMessage,
  type WorldModelPrediction,
  type WorldModelRequest,
} from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { samplingDefaults } from "@presage/contract/defaults";
import type { CallWithCaller } from "../http/call.ts";
import { type Exchange, keepCall } from "../http/exchange.ts";
import { reserveResponse } from "../http/memory.ts";
import { readExactBytes } from "../http/request.ts";
import { eventStreamHeaders } from "../http/response.ts";
import { InvalidRequestError, missing } from "../http/validate.ts";
import { ServiceError, SpendingRefusedError } from "../platform/errors.ts";
import { reserveBytesAnyway } from "../platform/limits/memory.ts";
import { isObject, withoutNulls } from "../platform/words.ts";
import {
  readTokenCounts,
  readUpstreamCachedTokens,
  readWithoutThoughts,
  traceCompletion,
} from "../upstream/completion.ts";
import type { Upstream } from "../upstream/create-upstream.ts";
import type {
  CompletionBody,
  CompletionOptions,
  CompletionRequest,
  UpstreamCompletion,
} from "../upstream/upstream.ts";

type Fields = Readonly<Record<string, unknown>>;

export type CompleteForRequest = (
  request: CompletionRequest,
  clientSignal: AbortSignal,
) => Promise<UpstreamCompletion>;

export interface StartedPrediction {
  /** The prompt as it was sent. */
  messages: PromptMessage[];
  prediction: Promise<WorldModelPrediction>;
}

/** A chat as in the contract, except that messages may also be tool calls and results. */
export interface ChatRequest
  extends Record<string, unknown>,
    Pick<ChatCompletionRequest, "model" | "context" | "interaction" | "params"> {
  messages?: CompletionRequest["messages"] | undefined;
}

/** A chat, and how its completion is sent. */
interface ReadChat {
  body: ChatRequest;
  respond(completion: UpstreamCompletion): Response;
}

/** Predicts the next state of the environment. While it waits, it keeps nothing of the client's request in memory. */
export function predict(
  complete: CompleteForRequest,
  { context, interaction, params }: WorldModelRequest,
  clientSignal: AbortSignal,
): StartedPrediction {
  const messages = composePrompt(context, interaction);
  const completion = complete({ ...upstreamFields(params ?? {}), messages }, clientSignal);
  return { messages, prediction: completion.then(({ body }) => readPrediction(body)) };
}

/** What is asked of the upstream for an interaction (structured mode) or for the client's own messages. */
export function toCompletionRequest(request: ChatRequest): CompletionRequest {
  const { model, messages = [], context, interaction } = request;
  return {
    ...(model ? { model } : {}),
    ...upstreamFields(setFields(request)),
    messages: interaction ? composePrompt(context, interaction) : messages,
  };
}

/**
 * The fields of a request to the upstream besides the model and the messages: the three sampling fields always, all others as
 * the client set them. Null is treated as not set.
 */
export function upstreamFields(set: Fields): Record<string, unknown> {
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const fields: Record<string, unknown> = { max_tokens, temperature, top_p, ...withoutNulls(set) };
  // If the client limits the tokens under OpenAI's newer name, our default for the older name must not contradict it.
  if (isSet(set.max_completion_tokens) && !isSet(set.max_tokens)) delete fields.max_tokens;
  // SGLang and vLLM read the two thinking switches from the arguments of their chat templates.
  if (isSet(set.enable_thinking)) {
    fields.chat_template_kwargs = withDefault(
      fields.chat_template_kwargs,
      "enable_thinking",
      set.enable_thinking,
    );
  }
  if (isSet(set.reasoning_budget)) fields.reasoning_effort ??= set.reasoning_budget;
  return fields;
}

const notSet = new Set(["model", "messages", "context", "interaction", "params", "stream"]);
const replacedByParams = new Set([...notSet, "max_tokens", "temperature", "top_p", "top_k"]);

/** What a request sets besides the model and what the prompt is made of. `params` replaces the sampling fields at its top level. */
export function setFields({ params, ...request }: ChatRequest): Record<string, unknown> {
  const leftOut = params ? replacedByParams : notSet;
  const topLevel = Object.entries(request).filter(([name]) => !leftOut.has(name));
  return { ...Object.fromEntries(topLevel), ...params };
}

/** Reads a completion into a prediction, leniently, since servers differ. */
export function readPrediction(completion: CompletionBody): WorldModelPrediction {
  const choice = completion.choices[0];
  const { content, reasoning } = readWithoutThoughts(choice);
  return {
    response: { role: "assistant", content },
    reasoning: reasoning ?? null,
    finish_reason: typeof choice.finish_reason === "string" ? choice.finish_reason : null,
    usage: readTokenCounts(completion.usage),
    matched_stop: firstStop(choice.matched_stop, choice.stop_reason),
  };
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
  if ((stream ?? false) !== false) throw new ServiceError("unsupported", "Streaming is not supported.");
}

/** Refuses fields that the sandbox, or a world of records, would ignore. */
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
    `What answers is not a language model: it has no ${names.join(", ")}.`,
  );
}

/** Each of the two modes needs a field, which the schema cannot express. */
export function refuseIncomplete(request: ChatRequest): void {
  const isStructured = isSet(request.context) || isSet(request.interaction);
  const isComplete = isStructured ? isSet(request.interaction) : (request.messages ?? []).length > 0;
  if (isComplete) return;
  throw new InvalidRequestError([missing(["body", isStructured ? "interaction" : "messages"], request)]);
}

/** A traced `complete` that records the upstream's time and token counts on the exchange. */
export function measureCompletion(
  complete: Upstream["complete"],
  exchange: Exchange,
  options: CompletionOptions,
): CompleteForRequest {
  return (request, clientSignal) => {
    const startedAtMs = performance.now();
    return measure(traceCompletion(complete, exchange.span, request, clientSignal, options), startedAtMs);
  };

  /** Deliberately not passed the request: an async function would keep it in memory until it ends. */
  async function measure(pending: Promise<UpstreamCompletion>, startedAtMs: number) {
    let isHit = false;
    let isRefused = false;
    try {
      const completion = await pending;
      isHit = completion.cache?.result === "hit";
      recordCompletion(exchange, completion);
      return completion;
    } catch (error) {
      isRefused = error instanceof SpendingRefusedError;
      throw error;
    } finally {
      // A cached completion, or a call that a budget refused, did not wait for the upstream.
      if (!isHit && !isRefused) recordUpstreamTime(exchange, startedAtMs, performance.now());
    }
  }
}

/** Records whose completion it is, and its token counts. */
export function recordCompletion(exchange: Exchange, completion: UpstreamCompletion): void {
  const isFirst = exchange.cache === undefined;
  const heldBytes = exchange.reservedBytes;
  if (!isFirst) keepCall(exchange);
  recordAnswer(exchange, completion);
  // A world keeps earlier completions as well, until it has its answer.
  if (!isFirst) reserveBytesAnyway(exchange, exchange.reservedBytes + heldBytes);
  exchange.wasAsked = exchange.cache !== "hit" && exchange.cache !== "shared";
  const { usage } = completion.body;
  const tokens = readTokenCounts(usage);
  exchange.promptTokens = tokens.prompt_tokens;
  exchange.completionTokens = tokens.completion_tokens;
  exchange.upstreamCachedTokens = readUpstreamCachedTokens(usage);
  exchange.exampleTokens = completion.exampleTokens;
  exchange.model = completion.model;
}

/** Records which deployment answered, and whether from the cache. */
export function recordAnswer(
  exchange: Exchange,
  { bytes, cache, deployment }: Pick<UpstreamCompletion, "bytes" | "cache" | "deployment">,
): void {
  exchange.cache = cache?.result ?? "off";
  exchange.ageS = cache?.result === "hit" ? Math.floor(cache.ageS) : undefined;
  exchange.deployment = deployment;
  reserveResponse(exchange, bytes.length);
}

/** Adds the time of a call. Calls that begin together, as a world's may, count once. */
function recordUpstreamTime(exchange: Exchange, startedAtMs: number, endedAtMs: number): void {
  const { upstreamMs = 0, upstreamEndedAtMs } = exchange;
  exchange.upstreamMs = upstreamMs + endedAtMs - Math.max(startedAtMs, upstreamEndedAtMs);
  exchange.upstreamEndedAtMs = endedAtMs;
}

function withDefault(holder: unknown, name: string, value: unknown): unknown {
  if (holder === undefined) return { [name]: value };
  return isObject(holder) ? { [name]: value, ...holder } : holder;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function firstStop(...stops: unknown[]): number | string | null {
  const stop = stops.find(isStop);
  return isStop(stop) ? stop : null;
}

function isStop(value: unknown): value is string | number {
  return typeof value === "string" || Number.isInteger(value);
}

/** The chat that OpenAI's clients mean, in the form of the contract. Messages of tools, which it lacks, are forwarded. */
function fromOpenAi({ messages, stream_options: _, ...body }: OpenAiChatCompletionRequest): ChatRequest {
  return messages ? { ...body, messages: messages.map(fromOpenAiMessage) } : body;
}

function fromOpenAiMessage({ role, content, ...message }: OpenAiChatMessage) {
  return {
    role: role === "developer" ? "system" : role,
    ...(content === undefined ? {} : { content: contentText(content) }),
    ...withoutNulls(message),
  };
}

/** Model servers join the parts of a text in this way too. */
function contentText(content: NonNullable<OpenAiChatMessage["content"]> | null): string | null {
  return Array.isArray(content) ? content.map(({ text }) => text).join("\n") : content;
}

/** A finished completion as the events of a stream: a chunk for each choice, the usage if it was asked for and is known, and the end. */
function streamedChat({ bytes }: UpstreamCompletion, includesUsage: boolean): Response {
  // For a completion from the cache, `body` has only a part of it.
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

/** A message as a stream's delta, in which tool calls are numbered. */
function toDelta(message: Record<string, unknown> = {}): Record<string, unknown> {
  const { tool_calls: calls } = message;
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call: object, index) => ({ index, ...call })) }
    : {};
  return { role: "assistant", ...message, ...numbered };
}
