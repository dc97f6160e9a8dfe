import type {
  ChatCompletionRequest,
  PromptMessage,
  WorldModelPrediction,
  WorldModelRequest,
} from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { samplingDefaults } from "@presage/contract/sampling-defaults";
import { UpstreamError } from "../platform/errors.ts";
import { isCountedModelName } from "../platform/prices.ts";
import type { Answer } from "../platform/storage/answer-columns.ts";
import {
  endOfThinking,
  findControlToken,
  readMessage,
  readThought,
  readTokenCounts,
  readUpstreamCachedTokens,
} from "../upstream/completion.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { CompletionBody, CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Requests one completion from the upstream. */
export type Complete = (request: CompletionRequest, clientSignal: AbortSignal) => Promise<UpstreamCompletion>;

export interface StartedPrediction {
  /** The prompt as it was sent. */
  messages: PromptMessage[];
  prediction: Promise<WorldModelPrediction>;
}

/** Predicts the next state of the environment. While it waits, it holds nothing of the client's request. */
export function predict(
  complete: Complete,
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

export function withoutNulls(fields: Fields): Fields {
  const names = Object.keys(fields);
  if (!names.some((name) => fields[name] === null)) return fields;
  return Object.fromEntries(
    names.filter((name) => fields[name] !== null).map((name) => [name, fields[name]]),
  );
}

function withDefault(holder: unknown, name: string, value: unknown): unknown {
  if (holder === undefined) return { [name]: value };
  const mayHold = typeof holder === "object" && holder !== null && !Array.isArray(holder);
  return mayHold ? { [name]: value, ...holder } : holder;
}

function isSet(value: unknown): boolean {
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
  const end = endOfThinking(content);
  if (end === undefined) return { content, reasoning: null };
  const thought = readThought(content.slice(0, end));
  return { content: content.slice(end).trimStart(), reasoning: thought === "" ? null : thought };
}

function firstStop(...stops: unknown[]): number | string | null {
  const stop = stops.find((candidate) => typeof candidate === "string" || Number.isInteger(candidate));
  return typeof stop === "string" || typeof stop === "number" ? stop : null;
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

/** What is stored of a completion. */
export function readAnswer({ body, cache, deployment, model, replica }: UpstreamCompletion): Answer {
  const { response, reasoning, finish_reason, usage } = readPrediction(body);
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const wasAsked = cache?.result !== "hit" && cache?.result !== "shared";
  return {
    output: response.content,
    reasoning: reasoning ?? null,
    finishReason: finish_reason ?? null,
    deployment,
    model: typeof body.model === "string" ? body.model : null,
    sentModel: model !== undefined && isCountedModelName(model) ? model : null,
    replica: replica === undefined ? null : replicaAddress(replica),
    promptTokens: wasAsked ? prompt : 0,
    cachedTokens: wasAsked ? readUpstreamCachedTokens(body.usage) : prompt + completion,
    completionTokens: wasAsked ? completion : 0,
  };
}

/** Finish reasons of a model that did something else than to say what comes next. */
const otherEnds: ReadonlySet<string | null> = new Set(["tool_calls", "function_call", "content_filter"]);

/** Throws an `UpstreamError` for an answer that cannot be an observation. */
export function refuseUnusable({ output, finishReason }: Answer, acceptsTruncated: boolean): void {
  const isCut = finishReason === "length";
  if (otherEnds.has(finishReason)) throw unusable(`it ended with ${finishReason}`);
  if (output.trim() === "" && isCut)
    throw unusable("its tokens ran out before any text; raise `max_tokens`, or let it think less");
  if (output.trim() === "") throw unusable("it has no text");
  if (isCut && !acceptsTruncated)
    throw unusable(
      'it was cut off at `max_tokens`; raise that, or set `truncated_output` of the environment to "accept"',
    );
}

/** Throws an `UpstreamError` for an answer that would feed control tokens of a chat template back to the model. */
export function refuseControlTokens({ output }: Answer, { name, controlTokens }: Deployment): void {
  const token = controlTokens === "accept" ? undefined : findControlToken(output);
  if (token !== undefined)
    throw unusable(
      `it has the control token ${token}; mend the model's chat template or stop tokens, or set \`control_tokens\` of the deployment ${name} to accept`,
    );
}

function unusable(why: string): UpstreamError {
  return new UpstreamError("unusable_completion", `The model's answer cannot be used: ${why}.`, {
    status: 200,
  });
}
