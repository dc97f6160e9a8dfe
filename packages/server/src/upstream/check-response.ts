import { classifyCarriedError, isObject, unexpectedAnswer } from "./classify-error.ts";
import type { Answer } from "./send-once.ts";
import type { CompletionBody, ModelList, UpstreamCompletion } from "./upstream.ts";

/** Accepts a 2xx answer that is a chat completion; everything else becomes the `UpstreamError` that it stands for. */
export function checkCompletion(answer: Answer): UpstreamCompletion {
  const body = parse(answer);
  if (!isObject(body)) throw refuse(answer, "a chat completion", "it is no JSON object");
  if (isObject(body.error) || typeof body.error === "string")
    throw classifyCarriedError(failed(answer), body);
  if (!hasMessage(body)) throw refuse(answer, "a chat completion", "it has no choice with a message");
  return { bytes: answer.bytes, body };
}

/** Accepts a 2xx answer that is a list of models. */
export function checkModelList(answer: Answer): ModelList {
  const body = parse(answer);
  const models: unknown = isObject(body) ? body.data : undefined;
  if (!Array.isArray(models)) throw refuse(answer, "a list of models", "it has no `data`");
  const ids = models.map((model: unknown) => (isObject(model) ? model.id : undefined));
  return { bytes: answer.bytes, ids: ids.filter((id) => typeof id === "string") };
}

function parse(answer: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(answer.bytes));
  } catch {
    throw refuse(answer, "what was asked for", "it is no JSON");
  }
}

function hasMessage(body: Record<string, unknown>): body is CompletionBody {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return isObject(choice) && isObject(choice.message);
}

function failed(answer: Answer) {
  return { status: answer.status, body: answer.text(), retryAfter: undefined };
}

function refuse(answer: Answer, expected: string, why: string) {
  return unexpectedAnswer(failed(answer), expected, why);
}
