import type { ErrorCategory, ValidationError } from "@presage/contract";

/**
 * Why a call failed, one category for each thing that a program can do about it. The first five are the server's own;
 * `timeout` and `connection` include errors on the way to the server. `unexpected` is a server error, or a response
 * that is not from Presage.
 */
export type PresageErrorCategory =
  | ErrorCategory
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "invalid"
  | "connection"
  | "unexpected";

export interface PresageErrorFields {
  category: PresageErrorCategory;
  status?: number | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  shouldRetry?: boolean | undefined;
  upstreamStatus?: number | undefined;
  upstreamBody?: string | undefined;
  faults?: readonly ValidationError[] | undefined;
  cause?: unknown;
}

/** Every failure of a call except an abort by the caller, which throws the signal's reason. */
export class PresageError extends Error {
  override readonly name = "PresageError";
  readonly category: PresageErrorCategory;
  /** The response's HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the server allows a retry, if it says. A 503 with `false` means that the server does not know whether it made
   * the change: check first, or retry with the same `idempotencyKey`.
   */
  readonly shouldRetry: boolean | undefined;
  /** Status of the upstream's response to Presage, if there was one. */
  readonly upstreamStatus: number | undefined;
  /** Up to 4,096 characters of the upstream's response. */
  readonly upstreamBody: string | undefined;
  /** What is wrong with the request and where; empty unless the status is 422. */
  readonly faults: readonly ValidationError[];

  constructor(message: string, fields: PresageErrorFields) {
    super(message, fields.cause === undefined ? {} : { cause: fields.cause });
    this.category = fields.category;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
    this.shouldRetry = fields.shouldRetry;
    this.upstreamStatus = fields.upstreamStatus;
    this.upstreamBody = fields.upstreamBody;
    this.faults = fields.faults ?? [];
  }
}
