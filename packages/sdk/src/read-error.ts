import type { ErrorResponse, HTTPValidationError, ValidationError } from "@presage/contract";
import { PresageError, type PresageErrorCategory } from "./presage-error.ts";

/** For responses of proxies too, which have no `category`. */
const categoryOfStatus: Record<number, PresageErrorCategory> = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  405: "invalid",
  408: "timeout",
  409: "conflict",
  413: "context_exceeded",
  422: "invalid",
  429: "rate_limit",
  502: "upstream",
  503: "unavailable",
  504: "timeout",
};

const maxIssuesInMessage = 3;

/** Turns an unsuccessful response into an error, from which `secret` is removed in case the response repeats it. */
export async function readError(response: Response, secret: string | undefined): Promise<PresageError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(secret === undefined ? text : text.replaceAll(secret, "[API key]"));
  const issues = Array.isArray(body.detail) ? body.detail.filter(isIssue) : [];
  return new PresageError(messageOf(status, body.detail, issues), {
    category: categoryOfStatus[status] ?? "unexpected",
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfterMs(headers),
    shouldRetry: readShouldRetry(headers),
    upstreamStatus: typeof body.upstream_status === "number" ? body.upstream_status : undefined,
    upstreamBody: typeof body.upstream_body === "string" ? body.upstream_body : undefined,
    issues,
  });
}

function readShouldRetry(headers: Headers): boolean | undefined {
  const value = headers.get("x-should-retry");
  return value === "true" ? true : value === "false" ? false : undefined;
}

type Body = { [Field in keyof ErrorResponse | keyof HTTPValidationError]?: unknown };

function parse(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isIssue(value: unknown): value is ValidationError {
  if (typeof value !== "object" || value === null) return false;
  return "loc" in value && Array.isArray(value.loc) && "msg" in value && typeof value.msg === "string";
}

function messageOf(status: number, detail: unknown, issues: readonly ValidationError[]): string {
  if (typeof detail === "string") return detail;
  if (issues.length === 0) return `Presage responded with status ${status}.`;
  const listed = issues.slice(0, maxIssuesInMessage).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
  const omitted = issues.length - listed.length;
  return listed.join("; ") + (omitted === 0 ? "" : `; and ${omitted} more`);
}

/** The wait that `Retry-After`, in seconds or as a date, asks for, in milliseconds. */
export function readRetryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return undefined;
  // Relative to the server's clock if it sends one: the local clock may be wrong.
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, atMs - (Number.isNaN(serverNowMs) ? Date.now() : serverNowMs));
}
