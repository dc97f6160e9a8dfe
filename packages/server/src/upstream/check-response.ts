import { classifyCarriedError, isObject, unexpectedResponse } from "./classify-error.ts";
import type { CompleteResponse } from "./send-once.ts";
import type { CompletionBody, ModelList, UpstreamCompletion } from "./upstream.ts";

/** Accepts a 2xx response that is a chat completion. Throws an `UpstreamError` for anything else. */
export function checkCompletion(response: CompleteResponse): UpstreamCompletion {
  const body = parse(response);
  if (!isObject(body)) throw unexpected(response, "a chat completion", "it is not a JSON object");
  if (isObject(body.error) || typeof body.error === "string")
    throw classifyCarriedError(toFailed(response), body);
  if (!hasMessage(body)) throw unexpected(response, "a chat completion", "it has no choice with a message");
  return { bytes: response.bytes, body };
}

/** Accepts a 2xx response that is a list of models. */
export function checkModelList(response: CompleteResponse): ModelList {
  const body = parse(response);
  const models: unknown = isObject(body) ? body.data : undefined;
  if (!Array.isArray(models)) throw unexpected(response, "a list of models", "it has no `data`");
  const ids = models.map((model: unknown) => (isObject(model) ? model.id : undefined));
  return { bytes: response.bytes, ids: ids.filter((id) => typeof id === "string") };
}

function parse(response: CompleteResponse): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(response.bytes));
  } catch {
    throw unexpected(response, "what was requested", "it is not JSON");
  }
}

function hasMessage(body: Record<string, unknown>): body is CompletionBody {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return isObject(choice) && isObject(choice.message);
}

function toFailed(response: CompleteResponse) {
  return { status: response.status, body: response.text(), retryAfter: undefined };
}

function unexpected(response: CompleteResponse, expected: string, why: string) {
  return unexpectedResponse(toFailed(response), expected, why);
}
