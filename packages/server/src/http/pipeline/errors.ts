import type { ErrorCategory, ErrorResponse, HTTPValidationError } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, type ServiceErrorCode, UpstreamError } from "../../errors.ts";
import { SignInError, type SignInFailure } from "../../identity/openid/sign-in-error.ts";
import { ReusedKeyError } from "../../storage/idempotency/once.ts";
import { isStoreUnavailable, storeUnavailable } from "../../storage/store-error.ts";
import { valueError } from "../request/pydantic-issues.ts";
import { InvalidRequestError } from "../request/validate.ts";

/** A request to a known path with a method that it does not have. */
export class MethodNotAllowedError extends ServiceError {
  readonly allow: string;

  constructor(methods: string[]) {
    const allow = methods.join(", ");
    super("method_not_allowed", `This path allows ${allow}.`);
    this.allow = allow;
  }
}

/** nginx's status for a client that disconnected. Nobody receives it, but logs and metrics show it. */
export const clientDisconnectedStatus = 499;

const upstreamStatus = {
  context_exceeded: 413,
  rate_limit: 429,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
} as const;

/** `Retry-After`, in seconds, where an unavailable upstream states none. */
const unavailablePauseS = "1";

/** The one place where a `ServiceError` becomes a status. `retryAfterS` takes precedence over the error's. */
const serviceStatus: Record<
  ServiceErrorCode,
  { status: number; category?: keyof typeof upstreamStatus; retryAfterS?: number }
> = {
  unsupported: { status: 400 },
  malformed_host: { status: 400 },
  unauthenticated: { status: 401 },
  forbidden: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  conflict: { status: 409 },
  body_too_large: { status: 413, category: "context_exceeded" },
  rate_limited: { status: 429, category: "rate_limit" },
  overloaded: { status: 503, category: "unavailable" },
  store_unavailable: { status: 503, category: "unavailable", retryAfterS: 2 },
  store_uncertain: { status: 503, category: "unavailable" },
};

/** Statuses of failed sign-ins at the identity provider. */
const signInStatus: Record<SignInFailure, number> = {
  broken_attempt: 400,
  refused: 403,
  provider_unavailable: 503,
};

export interface HttpErrorResponse {
  status: number;
  body: ErrorResponse | HTTPValidationError;
  headers: Record<string, string>;
  category: ErrorCategory | undefined;
  /** Whether the cause is a bug that somebody should look at. */
  isUnexpected: boolean;
}

/** The response to `error`. For an unexpected error it reveals nothing about the cause. */
export function errorResponse(error: unknown, requestId: string): HttpErrorResponse {
  if (error instanceof InvalidRequestError) return plain(422, { detail: error.issues });
  if (error instanceof ReusedKeyError) {
    return plain(422, { detail: [valueError(["header", "idempotency-key"], error.message, null)] });
  }
  if (error instanceof UpstreamError) return upstreamErrorResponse(error);
  if (error instanceof ServiceError) return serviceErrorResponse(error);
  if (error instanceof SignInError) return plain(signInStatus[error.failure], { detail: error.message });
  if (error instanceof ClientDisconnectedError) {
    return plain(clientDisconnectedStatus, { detail: error.message });
  }
  if (isStoreUnavailable(error)) return serviceErrorResponse(storeUnavailable(error));
  const detail = `Internal server error. Request id: ${requestId}`;
  return { ...plain(500, { detail }), isUnexpected: true };
}

function upstreamErrorResponse(error: UpstreamError): HttpErrorResponse {
  const { category, status, body, retryAfter } = error;
  const response: ErrorResponse = {
    detail: error.message,
    upstream_status: status,
    upstream_body: body,
    category,
  };
  // A 503 always says when to try again, even if the upstream was unreachable and could not say.
  const pause = retryAfter ?? (category === "unavailable" ? unavailablePauseS : undefined);
  const headers = pause === undefined ? {} : { "retry-after": pause };
  return { ...plain(upstreamStatus[category], response), headers, category };
}

function serviceErrorResponse(error: ServiceError): HttpErrorResponse {
  const { status, category, retryAfterS = error.retryAfterS } = serviceStatus[error.code];
  return {
    ...plain(status, { detail: error.message, category }),
    headers: {
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
      ...(error.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
      // A client that retried by itself might make the change twice.
      ...(error.code === "store_uncertain" ? { "x-should-retry": "false" } : {}),
      ...(error instanceof MethodNotAllowedError ? { allow: error.allow } : {}),
    },
    category,
  };
}

function plain(status: number, body: HttpErrorResponse["body"]): HttpErrorResponse {
  return { status, body, headers: {}, category: undefined, isUnexpected: false };
}
