import type {
  ChatCompletionRequest,
  PromptMessage,
  WorldModelPrediction,
  WorldModelRequest,
} from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { samplingDefaults } from "@presage/contract/sampling-defaults";
import { type Exchange, keepCall } from "../http/exchange.ts";
import { reserveResponse } from "../http/memory.ts";
import { reserveBytesAnyway } from "../platform/limits/memory.ts";
import { withoutNulls } from "../platform/words.ts";
import {
  endOfLeadingThoughts,
  readMessage,
  readThought,
  readTokenCounts,
  readUpstreamCachedTokens,
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

/** Predicts the next state of the environment. While it waits, it holds nothing of the client's request. */
export function predict(
  complete: CompleteForRequest,
  { context, interaction, params }: WorldModelRequest,
  clientSignal: AbortSignal,
): StartedPrediction {
  const messages = composePrompt(context, interaction);
  const completion = complete({ ...upstreamFields(params ?? {}), messages }, clientSignal);
  return { messages, prediction: completion.then(({ body }) => readPrediction(body)) };
}

/**
 * The fields of a request to the upstream besides the model and the messages: the three sampling fields always, all others as
 * the client set them. Null is treated as not set.
 */
export function upstreamFields(set: Fields): Record<string, unknown> {
  const { max_tokens, temperature, top_p } = samplingDefaults;
  const fields: Record<string, unknown> = { max_tokens, temperature, top_p, ...withoutNulls(set) };
  // If the client limits the tokens by OpenAI's newer name, our default for the older one must not contradict it.
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

function withDefault(holder: unknown, name: string, value: unknown): unknown {
  if (holder === undefined) return { [name]: value };
  const mayHold = typeof holder === "object" && holder !== null && !Array.isArray(holder);
  return mayHold ? { [name]: value, ...holder } : holder;
}

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Reads a completion into a prediction, leniently, since servers differ. */
export function readPrediction(completion: CompletionBody): WorldModelPrediction {
  const choice = completion.choices[0];
  const message = readMessage(choice);
  const { content, reasoning } = message.reasoning === undefined ? splitThinking(message.content) : message;
  return {
    response: { role: "assistant", content },
    reasoning: reasoning ?? null,
    finish_reason: typeof choice.finish_reason === "string" ? choice.finish_reason : null,
    usage: readTokenCounts(completion.usage),
    matched_stop: firstStop(choice.matched_stop, choice.stop_reason),
  };
}

/** For a server that leaves the model's thoughts in the content. */
function splitThinking(content: string): { content: string; reasoning: string | null } {
  const end = endOfLeadingThoughts(content);
  if (end === undefined) return { content, reasoning: null };
  const thought = readThought(content.slice(0, end));
  return { content: content.slice(end).trimStart(), reasoning: thought === "" ? null : thought };
}

function firstStop(...stops: unknown[]): number | string | null {
  const stop = stops.find(isStop);
  return isStop(stop) ? stop : null;
}

function isStop(value: unknown): value is string | number {
  return typeof value === "string" || Number.isInteger(value);
}

/** A chat as the contract has it, but its messages may also be of tools. */
export interface ChatRequest
  extends Record<string, unknown>,
    Pick<ChatCompletionRequest, "model" | "context" | "interaction" | "params"> {
  messages?: CompletionRequest["messages"] | undefined;
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

/** What a request sets beside the model and what the prompt is made of. `params` replaces the sampling fields at its top level. */
export function setFields(request: ChatRequest): Record<string, unknown> {
  const {
    model: _,
    messages: __,
    context: ___,
    interaction: ____,
    params,
    stream: _____,
    ...topLevel
  } = request;
  const {
    max_tokens: _max,
    temperature: _temperature,
    top_p: _topP,
    top_k: _topK,
    ...unknownFields
  } = topLevel;
  return params ? { ...unknownFields, ...params } : topLevel;
}

/** The same `complete`, traced, which records on the exchange the upstream's time and token counts. */
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
    try {
      const completion = await pending;
      isHit = completion.cache?.result === "hit";
      recordCompletion(exchange, completion);
      return completion;
    } finally {
      // What is stored did not wait for the upstream.
      if (!isHit) recordUpstreamTime(exchange, startedAtMs, performance.now());
    }
  }
}

/** Adds the time of a call. Calls that begin together, as a world's may, count once. */
function recordUpstreamTime(exchange: Exchange, startedAtMs: number, endedAtMs: number): void {
  const { upstreamMs = 0, upstreamEndedAtMs } = exchange;
  exchange.upstreamMs = upstreamMs + endedAtMs - Math.max(startedAtMs, upstreamEndedAtMs);
  exchange.upstreamEndedAtMs = endedAtMs;
}

/** Records whose completion it is, and its token counts. */
export function recordCompletion(exchange: Exchange, completion: UpstreamCompletion): void {
  const isFirst = exchange.cache === undefined;
  const heldBytes = exchange.reservedBytes;
  if (!isFirst) keepCall(exchange);
  recordAnswer(exchange, completion);
  // A world holds those before as well, until it has its answer.
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

/** Records what responds to the request: who answered, and from where. */
export function recordAnswer(
  exchange: Exchange,
  { bytes, cache, deployment }: Pick<UpstreamCompletion, "bytes" | "cache" | "deployment">,
): void {
  exchange.cache = cache?.result ?? "off";
  exchange.ageS = cache?.result === "hit" ? Math.floor(cache.ageS) : undefined;
  exchange.deployment = deployment;
  reserveResponse(exchange, bytes.length);
}
