import type { ErrorCategory, ErrorResponse, HTTPValidationError } from "@presage/contract";
import { CallerGoneError, ServiceError, type ServiceErrorCode, UpstreamError } from "../errors.ts";
import { RateLimitError } from "../identity/admission.ts";
import { SignInError, type SignInFailure } from "../identity/openid/sign-in-error.ts";
import { isStoreUnavailable } from "../storage/store-failure.ts";
import { rateHeaders } from "./rate-headers.ts";
import { ValidationFailure } from "./validation.ts";

/** A known path that was asked with a method that it does not have. */
export class MethodNotAllowedError extends ServiceError {
  readonly allow: string;

  constructor(methods: string[]) {
    const allow = methods.join(", ");
    super("method_not_allowed", `This path takes ${allow}.`);
    this.allow = allow;
  }
}

/** nginx's status for a caller that hung up. Nobody receives it; logs and metrics do. */
export const callerGoneStatus = 499;

const upstreamStatus = {
  context_exceeded: 413,
  rate_limit: 429,
  upstream: 502,
  unavailable: 503,
  timeout: 504,
} as const;

/** The one place where a refusal of our own becomes a status. */
const serviceStatus: Record<ServiceErrorCode, { status: number; category?: keyof typeof upstreamStatus }> = {
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
  store_unavailable: { status: 503, category: "unavailable" },
};

/** What becomes of a sign-in at the identity provider that failed. */
const signInStatus: Record<SignInFailure, number> = {
  broken_attempt: 400,
  refused: 403,
  provider_unavailable: 503,
};

export interface ErrorAnswer {
  status: number;
  body: ErrorResponse | HTTPValidationError;
  headers: Record<string, string>;
  category: ErrorCategory | undefined;
  /** True where the cause is a fault of ours that somebody should look at. */
  isUnexpected: boolean;
}

/** What a caller is told about `error`. An unexpected one tells nothing of its inside. */
export function answerTo(error: unknown, requestId: string): ErrorAnswer {
  if (error instanceof ValidationFailure) return plain(422, { detail: error.faults });
  if (error instanceof UpstreamError) return answerToUpstream(error);
  if (error instanceof ServiceError) return answerToService(error);
  if (error instanceof SignInError) return plain(signInStatus[error.failure], { detail: error.message });
  if (error instanceof CallerGoneError) return plain(callerGoneStatus, { detail: error.message });
  if (isStoreUnavailable(error)) {
    return answerToService(
      new ServiceError("store_unavailable", "The database cannot be reached right now."),
    );
  }
  const detail = `Something went wrong on our side. Request id: ${requestId}`;
  return { ...plain(500, { detail }), isUnexpected: true };
}

/** Whether the store could not be asked, by whatever name that came. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof ServiceError ? error.code === "store_unavailable" : isStoreUnavailable(error);
}

function answerToUpstream(error: UpstreamError): ErrorAnswer {
  const { category, status, body, retryAfter } = error;
  const answer: ErrorResponse = {
    detail: error.message,
    ...(status === undefined ? {} : { upstream_status: status }),
    ...(body === undefined ? {} : { upstream_body: body }),
    category,
  };
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  return { ...plain(upstreamStatus[category], answer), headers, category };
}

function answerToService(error: ServiceError): ErrorAnswer {
  const { status, category } = serviceStatus[error.code];
  return {
    ...plain(status, { detail: error.message, ...(category === undefined ? {} : { category }) }),
    headers: {
      ...(error.retryAfterS === undefined ? {} : { "retry-after": String(error.retryAfterS) }),
      ...(error.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
      ...(error instanceof MethodNotAllowedError ? { allow: error.allow } : {}),
      ...(error instanceof RateLimitError ? Object.fromEntries(rateHeaders(error.rate)) : {}),
    },
    category,
  };
}

function plain(status: number, body: ErrorAnswer["body"]): ErrorAnswer {
  return { status, body, headers: {}, category: undefined, isUnexpected: false };
}
