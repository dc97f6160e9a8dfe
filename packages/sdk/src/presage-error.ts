import type { ErrorCategory, ValidationError } from "@presage/contract";

/**
 * Why a call failed, one word for each thing that a program can do about it. The first five are the server's own;
 * `timeout` and `connection` also stand for what went wrong on the way to it. `unexpected` is a fault of the server, or
 * an answer that is not Presage's.
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

/** Every failure of a call but the caller's own abort, which is thrown as the signal's reason. */
export class PresageError extends Error {
  override readonly name = "PresageError";
  readonly category: PresageErrorCategory;
  /** The answer's HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** The server's name for the request, for its log. */
  readonly requestId: string | undefined;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfterMs: number | undefined;
  /**
   * What the server says of trying again, if it says anything. A 503 with `false` does not know whether it did what was
   * asked: look first, or try again under the same `idempotencyKey`.
   */
  readonly shouldRetry: boolean | undefined;
  /** Status of the answer that the upstream model gave to Presage, if it gave one. */
  readonly upstreamStatus: number | undefined;
  /** The upstream's answer, at most 4,096 characters of it. */
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
