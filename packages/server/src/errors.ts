import type { ErrorCategory } from "@presage/contract";

/** What Presage itself refuses or cannot do. The boundary turns each code into a status. */
export type ServiceErrorCode =
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "method_not_allowed"
  | "unsupported"
  | "malformed_host"
  | "body_too_large"
  | "rate_limited"
  | "overloaded"
  | "store_unavailable"
  /** A change was sent to the store, which did not confirm it: it may or may not have been kept. */
  | "store_uncertain";

export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** Seconds after which the caller may try again. */
  readonly retryAfterS: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { retryAfterS?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.retryAfterS = options.retryAfterS;
  }
}

export interface UpstreamResponse {
  status?: number;
  body?: string;
  retryAfter?: string | undefined;
}

/** A prediction that the upstream failed. `status` and `body` are there only if the upstream answered. */
export class UpstreamError extends Error {
  readonly category: ErrorCategory;
  readonly status: number | undefined;
  readonly body: string | undefined;
  /** The upstream's own `Retry-After`, as it sent it. */
  readonly retryAfter: string | undefined;

  constructor(category: ErrorCategory, message: string, answer: UpstreamResponse & { cause?: unknown } = {}) {
    super(message, { cause: answer.cause });
    this.name = "UpstreamError";
    this.category = category;
    this.status = answer.status;
    this.body = answer.body;
    this.retryAfter = answer.retryAfter;
  }
}

/** The client closed the connection, so nobody reads the response. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super("The client disconnected before the response was ready.");
    this.name = "ClientDisconnectedError";
  }
}
