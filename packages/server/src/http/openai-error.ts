import type { OpenAiError, ValidationError } from "@presage/contract";
import type { ErrorCode, HttpErrorResponse } from "./errors.ts";

const maxIssuesInMessage = 5;

/** The codes that OpenAI's clients know. Every other error keeps the code that Presage has for it. */
const openAiCodes: Partial<Record<ErrorCode, string>> = {
  unauthenticated: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  context_exceeded: "context_length_exceeded",
};

/** Whether OpenAI's clients call this path. They show what an error's body has under `error`, and nothing else of it. */
export function isOpenAiPath(path: string): boolean {
  return path === "/v1/chat/completions" || path === "/v1/models" || path.startsWith("/v1/models/");
}

/** An error as OpenAI's clients read it. */
export function openAiError({
  status,
  body,
  code,
  category,
}: Pick<HttpErrorResponse, "status" | "body" | "code"> & Partial<HttpErrorResponse>): OpenAiError {
  const { detail } = body;
  const [firstIssue] = typeof detail === "string" ? [] : detail;
  return {
    message: typeof detail === "string" ? detail : inWords(detail),
    type: typeOf(status),
    param: firstIssue === undefined ? null : fieldOf(firstIssue),
    code: openAiCodes[code] ?? code,
    category: category ?? null,
    upstream_status: ("upstream_status" in body ? body.upstream_status : null) ?? null,
  };
}

function typeOf(status: number): OpenAiError["type"] {
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

function inWords(issues: readonly ValidationError[]): string {
  const listed = issues
    .slice(0, maxIssuesInMessage)
    .map((issue) => `${fieldOf(issue) ?? issue.loc[0]}: ${reasonOf(issue)}`);
  const omitted = issues.length - listed.length;
  return listed.join("; ") + (omitted === 0 ? "" : `; and ${omitted} more`);
}

/** That a body is no JSON says nothing without the reason. */
function reasonOf({ type, msg, ctx }: ValidationError): string {
  return type === "json_invalid" ? `${msg}: ${ctx?.error}` : msg;
}

/** The field as OpenAI writes it: `messages[0].role`. Null for the body as a whole, or a position in one that is not JSON. */
function fieldOf({ loc: [, ...path] }: ValidationError): string | null {
  const [first, ...rest] = path;
  if (typeof first !== "string") return null;
  return first + rest.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
}
