import type {
  ErrorCategory,
  ErrorResponse,
  HTTPValidationError,
  OpenAiError,
  ValidationError,
} from "@presage/contract";
import {
  ClientDisconnectedError,
  InvalidFieldError,
  ReusedKeyError,
  ServiceError,
  type ServiceErrorCode,
  SignInError,
  type SignInErrorKind,
  SpendingRefusedError,
  UpstreamError,
} from "../platform/errors.ts";
import { isStoreUnavailable, storeUnavailable } from "../platform/storage/store-error.ts";
import { andMore } from "../platform/words.ts";
import { clientDisconnectedStatus } from "./exchange.ts";
import { InvalidRequestError, valueError } from "./validate.ts";

/** A request to a known path with a method that the path does not have. */
export class MethodNotAllowedError extends ServiceError {
  readonly allow: string;

  constructor(methods: string[]) {
    const allow = methods.join(", ");
    super("method_not_allowed", `This path allows ${allow}.`);
    this.allow = allow;
  }
}

const upstreamStatus = {
  context_exceeded: 413,
  rate_limit: 429,
  upstream: 502,
  unusable_completion: 502,
  unavailable: 503,
  timeout: 504,
} as const;

const upstreamCode = {
  context_exceeded: "context_exceeded",
  rate_limit: "rate_limited",
  upstream: "upstream_error",
  unusable_completion: "unusable_completion",
  unavailable: "upstream_unavailable",
  timeout: "upstream_timeout",
} as const;

/** Distinguishes errors that have the same status. */
type ErrorCode =
  | ServiceErrorCode
  | (typeof upstreamCode)[ErrorCategory]
  | "invalid_request"
  | "sign_in_failed"
  | "client_disconnected"
  | "internal_error";

/** Clients that retry by themselves, OpenAI's among them, do so after 409 and 5xx unless told otherwise. */
const noRetry = { "x-should-retry": "false" };

/** The one place where a `ServiceError` becomes a status. `retryAfterS` takes precedence over the error's. */
const serviceStatus: Record<
  ServiceErrorCode,
  { status: number; category?: keyof typeof upstreamStatus; retryAfterS?: number; shouldRetry?: false }
> = {
  bad_request: { status: 400 },
  unsupported: { status: 400 },
  malformed_host: { status: 400 },
  unauthenticated: { status: 401 },
  forbidden: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  conflict: { status: 409, shouldRetry: false },
  reality_alarm: { status: 409, shouldRetry: false },
  examples_gone: { status: 409, shouldRetry: false },
  // No category: `context_exceeded` is for a model's context only.
  body_too_large: { status: 413 },
  evaluation_too_large: { status: 413 },
  page_too_large: { status: 413 },
  memory_exceeded: { status: 413 },
  quota_exceeded: { status: 413 },
  // Somebody has to make room first.
  disk_full: { status: 507, category: "unavailable", shouldRetry: false },
  rate_limited: { status: 429, category: "rate_limit" },
  budget_exhausted: { status: 402, shouldRetry: false },
  unpriced_model: { status: 422, shouldRetry: false },
  overloaded: { status: 503, category: "unavailable" },
  store_unavailable: { status: 503, category: "unavailable", retryAfterS: 2 },
  // A client that retried by itself might make the change twice.
  store_uncertain: { status: 503, category: "unavailable", shouldRetry: false },
};

/** Statuses of failed sign-ins at the identity provider. */
const signInStatus: Record<SignInErrorKind, number> = {
  broken_attempt: 400,
  refused: 403,
  provider_unavailable: 503,
};

export interface HttpErrorResponse {
  status: number;
  body: ErrorResponse | HTTPValidationError;
  headers: Record<string, string>;
  category: ErrorCategory | undefined;
  code: ErrorCode;
  /** Whether the cause is a bug that someone should look at. */
  isUnexpected: boolean;
}

/** The response to `error`. For an unexpected error it reveals nothing about the cause. */
export function errorResponse(error: unknown, requestId: string): HttpErrorResponse {
  if (error instanceof InvalidRequestError) return plain(422, "invalid_request", { detail: error.issues });
  if (error instanceof InvalidFieldError) {
    const detail = [error, ...error.others].map(({ path, message }) =>
      valueError(["body", ...path], message),
    );
    return plain(422, "invalid_request", { detail });
  }
  if (error instanceof ReusedKeyError) {
    const detail = [valueError(["header", "idempotency-key"], error.message, null)];
    return plain(422, "invalid_request", { detail });
  }
  if (error instanceof UpstreamError) return upstreamErrorResponse(error);
  if (error instanceof SpendingRefusedError && error.model !== undefined) {
    const detail = [valueError(["body", "model"], error.message, error.model)];
    return { ...plain(422, error.code, { detail }), headers: noRetry };
  }
  if (error instanceof ServiceError) return serviceErrorResponse(error);
  if (error instanceof SignInError) {
    const refused = plain(signInStatus[error.kind], "sign_in_failed", { detail: error.message });
    return refused.status === 503
      ? { ...refused, headers: { "retry-after": String(randomPauseS()) } }
      : refused;
  }
  if (error instanceof ClientDisconnectedError) {
    return plain(clientDisconnectedStatus, "client_disconnected", { detail: error.message });
  }
  if (isStoreUnavailable(error)) return serviceErrorResponse(storeUnavailable(error));
  const detail = `Internal server error. Request id: ${requestId}`;
  return { ...plain(500, "internal_error", { detail }), isUnexpected: true };
}

/** What a `Retry-After` may say: a number of seconds, or a date. */
const toldPause = /^(\d+(\.\d+)?|.+ GMT)$/;

function upstreamErrorResponse(error: UpstreamError): HttpErrorResponse {
  const { category, status, body, retryAfter } = error;
  const response: ErrorResponse = {
    detail: error.message,
    upstream_status: status,
    upstream_body: body,
    category,
  };
  // A 503 always says when to try again, even if the upstream was unreachable and could not say.
  const told = toldPause.test(retryAfter ?? "") ? retryAfter : undefined;
  const pause = told ?? (category === "unavailable" ? String(randomPauseS()) : undefined);
  // The upstream will refuse the same request, or answer it in the same way, again.
  const isRefused =
    category === "unusable_completion" ||
    (category === "upstream" && status !== undefined && status >= 400 && status < 500);
  const headers = {
    ...(pause === undefined ? {} : { "retry-after": pause }),
    ...(isRefused ? noRetry : {}),
  };
  return { ...plain(upstreamStatus[category], upstreamCode[category], response), headers, category };
}

/** The kinds of 409 that clients tell apart. */
const conflicts: ReadonlySet<ErrorCode> = new Set(["reality_alarm", "examples_gone"]);

function serviceErrorResponse(error: ServiceError): HttpErrorResponse {
  const { status, category, shouldRetry = true, ...own } = serviceStatus[error.code];
  const statedS = own.retryAfterS ?? error.retryAfterS;
  const retryAfterS = statedS ?? (category === "unavailable" && shouldRetry ? randomPauseS() : undefined);
  return {
    ...plain(status, error.code, {
      detail: error.message,
      category: conflicts.has(error.code) ? error.code : category,
    }),
    headers: {
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
      ...(error.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
      ...(shouldRetry ? {} : noRetry),
      ...(error instanceof MethodNotAllowedError ? { allow: error.allow } : {}),
    },
    category,
  };
}

/**
 * `Retry-After` of a 503 for which no time is known: 2 s on average, so that clients which failed together do not return
 * together.
 */
function randomPauseS(): number {
  return 1 + Math.floor(Math.random() * 3);
}

function plain(status: number, code: ErrorCode, body: HttpErrorResponse["body"]): HttpErrorResponse {
  return { status, body, headers: {}, category: undefined, code, isUnexpected: false };
}

const maxIssuesInMessage = 5;

/** The codes that OpenAI's clients know. Every other error keeps Presage's own code. */
const openAiCodes: Partial<Record<ErrorCode, string>> = {
  unauthenticated: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  budget_exhausted: "insufficient_quota",
  context_exceeded: "context_length_exceeded",
};

/** Whether OpenAI's clients call this path. Of an error's body they show only what is under `error`. */
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
    message: inWords(detail),
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

/** The message of an error's body as one text. */
export function inWords(issues: HttpErrorResponse["body"]["detail"]): string {
  if (typeof issues === "string") return issues;
  const listed = issues
    .slice(0, maxIssuesInMessage)
    .map((issue) => `${fieldOf(issue) ?? issue.loc[0]}: ${reasonOf(issue)}`);
  return andMore(listed, issues.length, "; ");
}

/** "Invalid JSON" is useless without the reason. */
function reasonOf({ type, msg, ctx }: ValidationError): string {
  return type === "json_invalid" ? `${msg}: ${ctx?.error}` : msg;
}

/** The field as OpenAI writes it: `messages[0].role`. Null for the body as a whole, or a position in one that is not JSON. */
function fieldOf({ loc: [, ...path] }: ValidationError): string | null {
  const [first, ...rest] = path;
  if (typeof first !== "string") return null;
  return first + rest.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
}
