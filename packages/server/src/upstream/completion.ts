import type { Usage, UsageFailure } from "@presage/contract";
import { ServiceError, SpendingRefusedError, UpstreamError } from "../platform/errors.ts";
import type { ChatParent, ChatSpan } from "../platform/observability/tracing.ts";
import { isObject } from "../platform/words.ts";
import { classifyCarriedError, unexpectedResponse } from "./failures.ts";
import type { ReadResponse } from "./send.ts";
import type {
  Complete,
  CompletionBody,
  CompletionChoice,
  CompletionOptions,
  CompletionRequest,
  ListedModel,
  ModelList,
  UpstreamCompletion,
} from "./upstream.ts";

/** More than any model reads or writes in one call. A larger count is a mistake. */
const maxTokens = 1e9;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const thinkStart = "<think>";
const thinkEnd = "</think>";
/** The control tokens of chat templates. None of them can be plain text or HTML. */
const controlTokens = ["<|im_start|>", "<|im_end|>", "<|eot_id|>", "<start_of_turn>", "<end_of_turn>"];

/** Accepts a 2xx response that is a chat completion. Throws an `UpstreamError` for anything else. */
export function checkCompletion(response: ReadResponse): CompletionBody {
  const body = parse(response);
  if (!isObject(body)) throw unexpected(response, "a chat completion", "it is not a JSON object");
  if (isObject(body.error) || typeof body.error === "string")
    throw classifyCarriedError(toFailed(response), body);
  if (!hasMessage(body)) throw unexpected(response, "a chat completion", "it has no choice with a message");
  return body;
}

/** Accepts a 2xx response that is a list of models. */
export function checkModelList(response: ReadResponse): ModelList {
  const body = parse(response);
  const models: unknown = isObject(body) ? body.data : undefined;
  if (!Array.isArray(models)) throw unexpected(response, "a list of models", "it has no `data`");
  return { bytes: response.bytes, models: models.filter(isListedModel) };
}

function isListedModel(model: unknown): model is ListedModel {
  return isObject(model) && typeof model.id === "string";
}

function parse(response: ReadResponse): unknown {
  try {
    return JSON.parse(utf8.decode(response.bytes));
  } catch {
    throw unexpected(response, "what was requested", "it is not JSON");
  }
}

function hasMessage(body: Record<string, unknown>): body is CompletionBody {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return isObject(choice) && isObject(choice.message);
}

function toFailed(response: ReadResponse) {
  return { status: response.status, body: response.text(), retryAfter: response.retryAfter };
}

function unexpected(response: ReadResponse, expected: string, why: string) {
  return unexpectedResponse(toFailed(response), expected, why);
}

/** A model's message as the server sent it. */
export interface ModelMessage {
  content: string;
  /** Undefined if the server does not separate reasoning from the content. */
  reasoning: string | undefined;
}

/** The only entrance for a model's text: half a surrogate pair, which no store accepts, becomes U+FFFD here. */
export function readMessage({ message }: CompletionChoice): ModelMessage {
  const content = readContent(message.content).toWellFormed();
  return { content, reasoning: readReasoning(message.reasoning_content) ?? readReasoning(message.reasoning) };
}

function readReasoning(text: unknown): string | undefined {
  return typeof text === "string" && text !== "" ? text.toWellFormed() : undefined;
}

/** The first control token of a chat template in what a model said. */
export function findControlToken(text: string): string | undefined {
  return controlTokens.find((token) => text.includes(token));
}

/** Most servers send a string or null, some a list of parts. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

/**
 * Where the `<think>` block at `from` ends; undefined if there is none. A chat template may have opened the block in the prompt, so
 * that the text contains only its end. A block that the token limit cut off ends with the text.
 */
export function endOfThinking(text: string, from = 0): number | undefined {
  const end = text.indexOf(thinkEnd, from);
  if (end >= 0) return end + thinkEnd.length;
  return startsWithThinking(text, from) ? text.length : undefined;
}

/** Where the thoughts before an answer end. A block that has a text before it belongs to the answer. */
export function endOfLeadingThoughts(answer: string): number | undefined {
  const end = endOfThinking(answer);
  const start = answer.indexOf(thinkStart);
  const isInside = start >= 0 && start < (end ?? 0) && !startsWithThinking(answer);
  return isInside ? undefined : end;
}

/** Whether a `<think>` block begins at `from`, after white space. */
export function startsWithThinking(text: string, from = 0): boolean {
  return text.startsWith(thinkStart, skipSpace(text, from));
}

/** What a model thought, without the tags around it. */
function readThought(thinking: string): string {
  const start = startsWithThinking(thinking) ? skipSpace(thinking, 0) + thinkStart.length : 0;
  return thinking.slice(start, thinking.endsWith(thinkEnd) ? -thinkEnd.length : undefined).trim();
}

/** The first place at or after `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] ?? "").trim() === "") at += 1;
  return at;
}

/** What a model said and thought, even if its server leaves the thoughts in the content. */
export function readWithoutThoughts(choice: CompletionChoice): ModelMessage {
  const message = readMessage(choice);
  const end = message.reasoning === undefined ? endOfLeadingThoughts(message.content) : undefined;
  if (end === undefined) return message;
  const thought = readThought(message.content.slice(0, end));
  return { content: message.content.slice(end).trimStart(), reasoning: thought === "" ? undefined : thought };
}

/** The name for a world's records, which answer in place of a deployment. */
export const recordsName = "retrieval";

/** An upstream may send anything; a count that cannot be true is treated as missing. */
export function readTokenCounts(usage: unknown): Usage {
  const counts = (typeof usage === "object" ? usage : null) as Record<string, unknown> | null;
  return {
    prompt_tokens: readCount(counts?.prompt_tokens),
    completion_tokens: readCount(counts?.completion_tokens),
  };
}

/** The part of the prompt that the upstream had in its own cache, where it says so. */
export function readUpstreamCachedTokens(usage: unknown): number {
  const details: unknown = isObject(usage) ? usage.prompt_tokens_details : undefined;
  return isObject(details) ? readCount(details.cached_tokens) : 0;
}

function readCount(count: unknown): number {
  const isCount = typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= maxTokens;
  return isCount ? count : 0;
}

/** Completes in its own span below the given one, if there is one, and sends its trace headers to the upstream. */
export function traceCompletion(
  complete: Complete,
  span: ChatParent | undefined,
  request: CompletionRequest,
  clientSignal: AbortSignal,
  options?: CompletionOptions,
): Promise<UpstreamCompletion> {
  if (span === undefined) return complete(request, clientSignal, options);
  const chat = span.startChat(request);
  return endWith(chat, complete(request, clientSignal, { ...options, trace: chat.headers }), clientSignal);
}

/** Deliberately not passed the request: the callbacks would keep it in memory until the end. */
function endWith(chat: ChatSpan, call: Promise<UpstreamCompletion>, clientSignal: AbortSignal) {
  call.then(
    ({ body: { usage, choices, model }, model: sentModel, replica, cache }) => {
      // Without counts from the upstream there is nothing to report.
      const counts = isObject(usage) ? readTokenCounts(usage) : undefined;
      const [promptTokens, completionTokens] = [counts?.prompt_tokens, counts?.completion_tokens];
      const { finish_reason: finishReason, message } = choices[0];
      const source = cache?.result;
      chat.end({ model, sentModel, replica, source, finishReason, message, promptTokens, completionTokens });
    },
    (error: unknown) => chat.fail(errorType(error, clientSignal)),
  );
  return call;
}

/** A span's `error.type`. */
function errorType(error: unknown, { reason }: AbortSignal): string {
  if (error instanceof UpstreamError) return error.category;
  if (error instanceof ServiceError) return error.code;
  // A judge's deadline aborts its calls as well.
  const isDeadline = reason instanceof Error && "code" in reason && reason.code === "timeout";
  return isDeadline ? "timeout" : "caller_gone";
}

/** One call to a model, by a judge, for a run or for a replay, for the usage of the account. */
export interface ModelUse {
  accountId: string;
  /** The key; the user for a request with a session, or a run that was started with one. Undefined if not known. */
  keyId: string | undefined;
  /** Undefined if the call succeeded. */
  failure: UsageFailure | undefined;
  /** The name that was sent. */
  model: string | undefined;
  promptTokens: number;
  completionTokens: number;
  upstreamCachedTokens: number;
  /** Absent if the model was not asked through a world. */
  exampleTokens?: number | undefined;
}

type Caller = Pick<ModelUse, "accountId" | "keyId">;

/** Counts each call, except those that a budget refuses, which are not made, and failures that are not the call's own. */
export function countCalls(
  complete: Complete,
  caller: Caller,
  recordCall: ((use: ModelUse) => void) | undefined,
  isAbandoned: (error: unknown, signal: AbortSignal) => boolean = () => false,
): Complete {
  return async (request, signal, options) => {
    const completion = await complete(request, signal, options).catch((error: unknown) => {
      if (!(error instanceof SpendingRefusedError) && !isAbandoned(error, signal))
        recordCall?.(useOfFailure(caller, error, signal));
      throw error;
    });
    recordCall?.(useOfCompletion(caller, completion));
    return completion;
  };
}

function useOfCompletion(
  { accountId, keyId }: Caller,
  { model, exampleTokens, body: { usage } }: UpstreamCompletion,
): ModelUse {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readTokenCounts(usage);
  const upstreamCachedTokens = readUpstreamCachedTokens(usage);
  const tokens = { promptTokens, completionTokens, upstreamCachedTokens, exampleTokens };
  return { accountId, keyId, failure: undefined, model, ...tokens };
}

function useOfFailure({ accountId, keyId }: Caller, error: unknown, { reason }: AbortSignal): ModelUse {
  const isDeadline = reason instanceof Error && "code" in reason && reason.code === "timeout";
  const abandoned = isDeadline ? "timeout" : "other";
  const failure = error instanceof UpstreamError ? error.category : abandoned;
  const tokens = { promptTokens: 0, completionTokens: 0, upstreamCachedTokens: 0 };
  return { accountId, keyId, failure, model: undefined, ...tokens };
}
