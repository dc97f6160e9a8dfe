import type { ErrorResponse, HTTPValidationError, ValidationError } from "@presage/contract";
import { PresageError, type PresageErrorCategory } from "./presage-error.ts";

/** Also for responses from proxies, which have no `category`. */
const categoryOfStatus: Record<number, PresageErrorCategory> = {
  400: "invalid",
  401: "unauthenticated",
  402: "budget_exhausted",
  403: "forbidden",
  404: "not_found",
  405: "invalid",
  408: "timeout",
  409: "conflict",
  413: "too_large",
  422: "invalid",
  429: "rate_limit",
  502: "upstream",
  503: "unavailable",
  504: "timeout",
  507: "unavailable",
};

const maxIssuesInMessage = 3;

/** Turns an unsuccessful response into an error, from which `secret` is removed in case the response repeats it. */
export async function readError(
  response: Response,
  baseUrl: string,
  secret: string | undefined,
): Promise<PresageError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(secret === undefined ? text : text.replaceAll(secret, "[API key]"));
  const issues = Array.isArray(body.detail) ? body.detail.filter(isIssue) : [];
  return new PresageError(messageOf(body.detail, issues) ?? wordStatus(baseUrl, status), {
    category: categoryOf(status, body),
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfterMs(headers),
    shouldRetry: readShouldRetry(headers),
    upstreamStatus: typeof body.upstream_status === "number" ? body.upstream_status : undefined,
    upstreamBody: typeof body.upstream_body === "string" ? body.upstream_body : undefined,
    issues,
  });
}

/** What responds to a path of Presage that it lacks is probably something else. */
function wordStatus(baseUrl: string, status: number): string {
  const isForeign = [404, 405, 501].includes(status);
  return `${baseUrl} responded with status ${status}${isForeign ? "; is this the URL of a Presage server?" : "."}`;
}

/** Browsers reveal only that a response is a redirect, not its status or target. */
export function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

/** The API has no redirects, so something else responded. */
export function toRedirectError({ status, headers }: Response, baseUrl: string, path: string): PresageError {
  return new PresageError(wordRedirect(readLocation(headers, baseUrl + path), baseUrl, path), {
    category: "unexpected",
    status: status === 0 ? undefined : status,
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

function wordRedirect(location: string | undefined, baseUrl: string, path: string): string {
  if (location === undefined) return `${baseUrl} redirects; is this the URL of a Presage server?`;
  if (location.endsWith(path))
    return `${baseUrl} redirects to ${location.slice(0, -path.length)}; use that as baseUrl.`;
  return `${baseUrl} redirects to ${location}; is this the URL of a Presage server?`;
}

/** The redirect's target, without its query, which may contain a secret. */
function readLocation(headers: Headers, from: string): string | undefined {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, from)) return undefined;
  const { origin, pathname } = new URL(location, from);
  return origin + pathname;
}

/** Only the model's 413 says `context_exceeded`, not the server's own. A 502 may be an unusable completion, and a 409 an alarm. */
function categoryOf(status: number, { category }: Body): PresageErrorCategory {
  if (status === 413 && category === "context_exceeded") return category;
  if (status === 409 && category === "reality_alarm") return category;
  if (status === 502 && category === "unusable_completion") return category;
  return categoryOfStatus[status] ?? "unexpected";
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

function messageOf(detail: unknown, issues: readonly ValidationError[]): string | undefined {
  if (typeof detail === "string") return detail;
  if (issues.length === 0) return undefined;
  const listed = issues.slice(0, maxIssuesInMessage).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
  const omitted = issues.length - listed.length;
  return listed.join("; ") + (omitted === 0 ? "" : `; and ${omitted} more`);
}

/** `Retry-After`, given in seconds or as a date, in milliseconds. */
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
