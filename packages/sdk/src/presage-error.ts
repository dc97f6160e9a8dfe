import type { ErrorCategory, ValidationError } from "@presage/contract";

/**
 * Why a call failed, by what a program can do about it. `timeout` and `connection` also stand for failures on the way to
 * the server. `unexpected` is an internal error of the server, or a response that is not from Presage.
 */
export type PresageErrorCategory =
  | ErrorCategory
  | "unauthenticated"
  | "budget_exhausted"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "reality_alarm"
  | "too_large"
  | "invalid"
  | "connection"
  | "unexpected";

/** The fields of a `PresageError`, besides its message. */
export interface PresageErrorFields {
  category: PresageErrorCategory;
  status?: number | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  shouldRetry?: boolean | undefined;
  upstreamStatus?: number | undefined;
  upstreamBody?: string | undefined;
  issues?: readonly ValidationError[] | undefined;
  cause?: unknown;
}

/** Any failure of a call except the caller's own abort, which rejects with the signal's reason. */
export class PresageError extends Error {
  override readonly name = "PresageError";
  readonly category: PresageErrorCategory;
  /** HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asked the client to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the server recommends a retry, if it says. After a 503 with `false` it is unknown whether the call took effect:
   * check first, or retry with the same `idempotencyKey`.
   */
  readonly shouldRetry: boolean | undefined;
  /** Status of the upstream model's response to Presage, if there was one. */
  readonly upstreamStatus: number | undefined;
  /** The first 4,096 characters of the upstream's response. */
  readonly upstreamBody: string | undefined;
  /** The issues in the request and their places; empty unless the status is 422. */
  readonly issues: readonly ValidationError[];

  constructor(message: string, fields: PresageErrorFields) {
    super(message, fields.cause === undefined ? {} : { cause: fields.cause });
    this.category = fields.category;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
    this.shouldRetry = fields.shouldRetry;
    this.upstreamStatus = fields.upstreamStatus;
    this.upstreamBody = fields.upstreamBody;
    this.issues = fields.issues ?? [];
  }
}
