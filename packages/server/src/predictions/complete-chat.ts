import type { ChatCompletionRequest } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import type { CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";
import { type Complete, upstreamFields } from "./predict.ts";

/** A chat as the contract has it, but its messages may also be of tools. */
export interface ChatRequest
  extends Record<string, unknown>,
    Pick<ChatCompletionRequest, "model" | "context" | "interaction" | "params"> {
  messages?: CompletionRequest["messages"] | undefined;
}

/** Requests a chat completion, for an interaction (structured mode) or for the client's own messages. */
export function completeChat(
  complete: Complete,
  request: ChatRequest,
  clientSignal: AbortSignal,
): Promise<UpstreamCompletion> {
  return complete(toCompletionRequest(request), clientSignal);
}

function toCompletionRequest(request: ChatRequest): CompletionRequest {
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
