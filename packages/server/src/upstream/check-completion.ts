import { classifyCarriedError, isObject, notACompletion } from "./classify-failure.ts";
import type { Answer } from "./send-once.ts";
import type { CompletionBody, UpstreamCompletion } from "./upstream.ts";

/** Accepts a 2xx answer that is a chat completion; everything else becomes the `UpstreamError` that it stands for. */
export function checkCompletion(answer: Answer): UpstreamCompletion {
  const body = parse(answer);
  if (!isObject(body)) throw refuse(answer, "it is no JSON object");
  if (isObject(body.error) || typeof body.error === "string")
    throw classifyCarriedError(failed(answer), body);
  if (!hasMessage(body)) throw refuse(answer, "it has no choice with a message");
  return { bytes: answer.bytes, body };
}

function parse(answer: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(answer.bytes));
  } catch {
    throw refuse(answer, "it is no JSON");
  }
}

function hasMessage(body: Record<string, unknown>): body is CompletionBody {
  const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return isObject(choice) && isObject(choice.message);
}

function failed(answer: Answer) {
  return { status: answer.status, body: answer.text(), retryAfter: undefined };
}

function refuse(answer: Answer, why: string) {
  return notACompletion(failed(answer), why);
}
