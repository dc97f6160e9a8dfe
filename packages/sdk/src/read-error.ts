import type { ErrorResponse, HTTPValidationError, ValidationError } from "@presage/contract";
import { PresageError, type PresageErrorCategory } from "./presage-error.ts";
import { readRetryAfterMs } from "./retry-after.ts";

/** Proxies on the way answer with these too, without a category of their own. */
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

const mostFaultsInMessage = 3;

/** The error that an answer without success stands for. `secret` is taken out of it, should the answer repeat it. */
export async function readFailure(response: Response, secret: string | undefined): Promise<PresageError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(secret === undefined ? text : text.replaceAll(secret, "[API key]"));
  const faults = Array.isArray(body.detail) ? body.detail.filter(isFault) : [];
  return new PresageError(messageOf(status, body.detail, faults), {
    category: categoryOfStatus[status] ?? "unexpected",
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfterMs(headers),
    shouldRetry: readShouldRetry(headers),
    upstreamStatus: typeof body.upstream_status === "number" ? body.upstream_status : undefined,
    upstreamBody: typeof body.upstream_body === "string" ? body.upstream_body : undefined,
    faults,
  });
}

function readShouldRetry(headers: Headers): boolean | undefined {
  const said = headers.get("x-should-retry");
  return said === "true" || said === "false" ? said === "true" : undefined;
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

function isFault(value: unknown): value is ValidationError {
  if (typeof value !== "object" || value === null) return false;
  return "loc" in value && Array.isArray(value.loc) && "msg" in value && typeof value.msg === "string";
}

function messageOf(status: number, detail: unknown, faults: readonly ValidationError[]): string {
  if (typeof detail === "string") return detail;
  if (faults.length === 0) return `Presage answered with status ${status}.`;
  const told = faults.slice(0, mostFaultsInMessage).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
  const untold = faults.length - told.length;
  return told.join("; ") + (untold === 0 ? "" : `; and ${untold} more`);
}
