import type { ErrorCategory } from "@presage/contract";
import { type StatedError, UpstreamError } from "../platform/errors.ts";
import { beginning, isObject } from "../platform/words.ts";

const maxBodyCharacters = 4_096;

/** How servers say that the input does not fit: SGLang, vLLM, OpenAI, llama.cpp, LM Studio, TGI, Anthropic, Gemini, Bedrock. */
const contextOverflow = [
  /maximum context length/i,
  /(longer|greater) than the ((model'?s )?context|maximum model) length/i,
  /exceeds? the (available|model'?s|maximum) context/i,
  /`?inputs`? tokens \+ `?max_new_tokens`? must be/i,
  /`?inputs`? must have less than \d+ tokens/i,
  /context (length|window|size) (is |was )?(exceeded|too small)/i,
  /prompt is too long/i,
  /context shift is disabled/i,
  /maximum prompt length is/i,
  /input token count .{0,40}exceeds the maximum number of tokens/i,
  /input is too long for (the )?requested model/i,
];
const contextOverflowCodes = new Set(["context_length_exceeded", "exceed_context_size_error"]);

const categoryOfStatus = new Map<number, ErrorCategory>([
  [408, "timeout"],
  [413, "context_exceeded"],
  [429, "rate_limit"],
  [503, "unavailable"],
  [504, "timeout"],
  [522, "timeout"],
  [524, "timeout"],
  [529, "unavailable"],
]);

/** These concern the deployment, its credential or its credit, not the request. */
const statusesOfDeployments = new Set([401, 402, 403, 404, 405, 407, 408, 421, 425]);

/** Whether asking again would fail the same way: the request was refused, or the answer is unusable. Also true of rate limits. */
export function isRefusal({ category, status }: UpstreamError): boolean {
  if (category === "context_exceeded" || category === "unusable_completion") return true;
  return status !== undefined && status >= 400 && status < 500 && !statusesOfDeployments.has(status);
}

/** Refused, reset, 503 or silent until the deadline: what counts towards an ejection. A 503 may also be about one request's length. */
export function isUnserved(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  const { category, status } = error;
  return (category === "unavailable" || category === "timeout") && (status === undefined || status === 503);
}

/**
 * Whether the fault may be the request's as well as the replica's, which another replica's response to the request tells. A 5xx
 * (a crashed engine, a gateway without a server behind it), or anything but a completion.
 */
export function isDubious(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError) || isUnserved(error)) return false;
  const { category, status = 500 } = error;
  return category !== "context_exceeded" && category !== "rate_limit" && (status < 400 || status >= 500);
}

/** The pause in a `Retry-After`: a number of seconds, or a date. 0 if it is absent, past or neither. */
export function retryAfterMs(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? 0 : Math.max(0, pauseMs);
}

const messageOfCategory: Record<ErrorCategory, string> = {
  context_exceeded: "The input exceeds the upstream model's context length.",
  rate_limit: "The upstream limits the rate of requests.",
  timeout: "The upstream timed out.",
  unavailable: "The upstream is temporarily unavailable.",
  upstream: "The upstream failed the request.",
  unusable_completion: "The model's answer cannot be used.",
};

export interface FailedResponse {
  status: number;
  /** The body as text, with our credential already redacted. */
  body: string;
  retryAfter: string | undefined;
}

/** The error that a response with a status other than 2xx stands for. */
export function classifyError(response: FailedResponse): UpstreamError {
  const stated = readStatedError(parseObject(response.body));
  return toError(response, stated, categoryOfStatus.get(response.status) ?? "upstream");
}

/** The error that a 2xx response carries in an `error` object, classified by the object's own code. */
export function classifyCarriedError(
  response: FailedResponse,
  completion: Record<string, unknown>,
): UpstreamError {
  const stated = readStatedError(completion);
  return toError(response, stated, categoryOfStatus.get(Number(stated.code)) ?? "upstream");
}

/** A 2xx response that is not what was requested. */
export function unexpectedResponse(response: FailedResponse, expected: string, why: string): UpstreamError {
  const message = `The upstream's response is not ${expected}: ${why}.`;
  const stated = readStatedError(parseObject(response.body));
  return new UpstreamError("upstream", message, { ...response, body: cut(response.body), stated });
}

function toError(response: FailedResponse, stated: StatedError, byStatus: ErrorCategory): UpstreamError {
  const category = saysContextOverflow(stated) ? "context_exceeded" : byStatus;
  const body = cut(response.body);
  return new UpstreamError(category, messageOfCategory[category], { ...response, body, stated });
}

/** Where servers put their message: `error.message`, `error` itself, `message`, `detail`. The rest may echo the prompt. */
function readStatedError(body: Record<string, unknown> = {}): StatedError {
  const holder = isObject(body.error) ? body.error : body;
  const message = [holder.message, body.error, holder.detail].find((text) => typeof text === "string") ?? "";
  const { code, type, param } = holder;
  return { message: String(message), code, type, param };
}

function saysContextOverflow({ message, code, type }: StatedError): boolean {
  if (contextOverflowCodes.has(String(code)) || contextOverflowCodes.has(String(type))) return true;
  return contextOverflow.some((pattern) => pattern.test(message));
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Gemini puts its only error into a list.
    const body: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function cut(body: string): string {
  return beginning(body, maxBodyCharacters);
}

/** Why an upstream could not be reached, for the log and as a metric's label. */
export type UnreachableReason = "refused" | "reset" | "name" | "certificate" | "tls" | "network" | "other";

const reasonOfCode = new Map<string, UnreachableReason>([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["EPIPE", "reset"],
  ["ENOTFOUND", "name"],
  ["EAI_AGAIN", "name"],
  ["EPROTO", "tls"],
  ["EHOSTUNREACH", "network"],
  ["ENETUNREACH", "network"],
  ["ETIMEDOUT", "network"],
]);

/** OpenSSL's codes for a certificate that it does not accept, such as DEPTH_ZERO_SELF_SIGNED_CERT or UNABLE_TO_VERIFY_LEAF_SIGNATURE. */
const ofCertificate = /CERT|ISSUER|SIGNATURE|CRL|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE|HOSTNAME_MISMATCH/;

/** The reason for the code of a failed connection. */
export function unreachableReason(code: string): UnreachableReason {
  return reasonOfCode.get(code) ?? (ofCertificate.test(code) ? "certificate" : "other");
}

export function timeoutError(timeoutMs: number): UpstreamError {
  return new UpstreamError("timeout", `The upstream did not respond within ${timeoutMs} ms.`);
}
