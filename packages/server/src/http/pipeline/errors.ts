import type { ErrorCategory, ErrorResponse, HTTPValidationError, ValidationError } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, type ServiceErrorCode, UpstreamError } from "../../errors.ts";
import { SignInError, type SignInFailure } from "../../identity/openid/sign-in-error.ts";
import { RateLimitError } from "../../prediction/admission.ts";
import { ReusedKeyError } from "../../storage/idempotency/once.ts";
import { isStoreUnavailable, storeUnavailable } from "../../storage/store-error.ts";
import { ValidationFailure } from "../request/validation.ts";
import { rateHeaders } from "./rate-headers.ts";

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

interface ServiceAnswer {
  status: number;
  category?: keyof typeof upstreamStatus;
  /** For what does not say it by itself. */
  retryAfterS?: number;
}

/** What a caller waits, in seconds, where an unavailable upstream does not say. */
const unavailablePauseS = "1";

/** The one place where a refusal of our own becomes a status. */
const serviceStatus: Record<ServiceErrorCode, ServiceAnswer> = {
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
  if (error instanceof ReusedKeyError) return plain(422, { detail: [reusedKey(error)] });
  if (error instanceof UpstreamError) return answerToUpstream(error);
  if (error instanceof ServiceError) return answerToService(error);
  if (error instanceof SignInError) return plain(signInStatus[error.failure], { detail: error.message });
  if (error instanceof ClientDisconnectedError) return plain(callerGoneStatus, { detail: error.message });
  if (isStoreUnavailable(error)) return answerToService(storeUnavailable(error));
  const detail = `Something went wrong on our side. Request id: ${requestId}`;
  return { ...plain(500, { detail }), isUnexpected: true };
}

function answerToUpstream(error: UpstreamError): ErrorAnswer {
  const { category, status, body, retryAfter } = error;
  const answer: ErrorResponse = {
    detail: error.message,
    ...(status === undefined ? {} : { upstream_status: status }),
    ...(body === undefined ? {} : { upstream_body: body }),
    category,
  };
  // A 503 always says when to come back; an upstream that could not be reached says nothing.
  const pause = retryAfter ?? (category === "unavailable" ? unavailablePauseS : undefined);
  const headers = pause === undefined ? {} : { "retry-after": pause };
  return { ...plain(upstreamStatus[category], answer), headers, category };
}

function answerToService(error: ServiceError): ErrorAnswer {
  const { status, category, retryAfterS = error.retryAfterS } = serviceStatus[error.code];
  return {
    ...plain(status, { detail: error.message, ...(category === undefined ? {} : { category }) }),
    headers: {
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
      ...(error.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
      // A client that tried again by itself might make the change twice.
      ...(error.code === "store_uncertain" ? { "x-should-retry": "false" } : {}),
      ...(error instanceof MethodNotAllowedError ? { allow: error.allow } : {}),
      ...(error instanceof RateLimitError && error.rate !== undefined
        ? Object.fromEntries(rateHeaders(error.rate))
        : {}),
    },
    category,
  };
}

function reusedKey({ message }: ReusedKeyError): ValidationError {
  const loc = ["header", "idempotency-key"];
  return { type: "value_error", loc, msg: `Value error, ${message}`, input: null, ctx: { error: message } };
}

function plain(status: number, body: ErrorAnswer["body"]): ErrorAnswer {
  return { status, body, headers: {}, category: undefined, isUnexpected: false };
}
