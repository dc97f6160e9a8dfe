import type { ErrorCategory } from "@presage/contract";

/** Errors of Presage itself. The HTTP layer maps each code to a status. */
export type ServiceErrorCode =
  /** Well-formed, but impossible to do. */
  | "bad_request"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  /** Too many successes in the environment are false, and it is configured to refuse episodes then. */
  | "reality_alarm"
  /** The dataset of a world's examples is deleted. */
  | "examples_gone"
  | "method_not_allowed"
  | "unsupported"
  | "malformed_host"
  | "body_too_large"
  /** The texts are too long for this many evaluators. */
  | "evaluation_too_large"
  /** One page of a list is too large. */
  | "page_too_large"
  /** The request alone needs more memory than one request may use. */
  | "memory_exceeded"
  /** The account's datasets would have too many bytes. */
  | "quota_exceeded"
  /** The database's disk has no room for an upload. */
  | "disk_full"
  | "rate_limited"
  /** The budget of the account or the key for this month is spent. */
  | "budget_exhausted"
  /** Spending is limited, and this model has no price. */
  | "unpriced_model"
  | "overloaded"
  | "store_unavailable"
  /** The database did not confirm a change: it may or may not have been stored. */
  | "store_uncertain";

export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** Seconds until the caller may try again. */
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

/** The named object does not exist, or belongs to another account. */
export function notFound(what: string): ServiceError {
  return new ServiceError("not_found", `There is no such ${what}.`);
}

/** The request cannot be fulfilled in the current state. */
export function conflict(message: string): ServiceError {
  return new ServiceError("conflict", message);
}

/** Whether an error says that there was no room for the work just then. */
export function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "overloaded";
}

/** Ignores that an object was deleted in the meantime; throws any other error. */
export function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
}

/** A field of a request that cannot be used, and why. */
export class InvalidFieldError extends Error {
  readonly path: readonly (string | number)[];
  /** Of the same request. */
  readonly others: readonly InvalidFieldError[];

  constructor(
    path: readonly (string | number)[],
    message: string,
    others: readonly InvalidFieldError[] = [],
  ) {
    super(message);
    this.name = "InvalidFieldError";
    this.path = path;
    this.others = others;
  }
}

/** Turns `not_found` into an issue of the field that names the missing object. */
export function issueIfGone(path: InvalidFieldError["path"]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    throw new InvalidFieldError(path, error.message.replace(/\.$/, ""));
  };
}

/** A call to a model that is refused because it would exceed a budget, or because its cost is unknown. */
export class SpendingRefusedError extends ServiceError {
  /** The model, if it has no price. */
  readonly model: string | undefined;

  constructor(message: string, model?: string) {
    super(model === undefined ? "budget_exhausted" : "unpriced_model", message);
    this.name = "SpendingRefusedError";
    this.model = model;
  }
}

/** What a server says about an error in its body. Only `message` is certain to be a string. */
export interface StatedError {
  message: string;
  code: unknown;
  type: unknown;
  param: unknown;
}

interface UpstreamResponse {
  status?: number;
  body?: string;
  retryAfter?: string | undefined;
  stated?: StatedError;
}

/** A failed call to the upstream. `status` and `body` are present only if the upstream responded. */
export class UpstreamError extends Error {
  readonly category: ErrorCategory;
  readonly status: number | undefined;
  /** At most the first 4,096 characters. */
  readonly body: string | undefined;
  /** The upstream's own `Retry-After`, unchanged. */
  readonly retryAfter: string | undefined;
  readonly #stated: StatedError | undefined;

  constructor(
    category: ErrorCategory,
    message: string,
    response: UpstreamResponse & { cause?: unknown } = {},
  ) {
    super(message, { cause: response.cause });
    this.name = "UpstreamError";
    this.category = category;
    this.status = response.status;
    this.body = response.body;
    this.retryAfter = response.retryAfter;
    this.#stated = response.stated;
  }

  /** The error that the whole body states; undefined if there was no body to read. It may be long, and is never logged. */
  get stated(): StatedError | undefined {
    return this.#stated;
  }
}

/** The client closed the connection, so no one reads the response. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super("The client disconnected before the response was ready.");
    this.name = "ClientDisconnectedError";
  }
}

/** An `Idempotency-Key` that was used before for a different request. */
export class ReusedKeyError extends Error {
  constructor() {
    super("The Idempotency-Key was used for another request. Use a new key for each request.");
    this.name = "ReusedKeyError";
  }
}

/** A fault in an upload, and its place. */
export interface UploadFault {
  /** The number of the line or document, from 1. Absent: the fault is in the upload as a whole. */
  line: number | undefined;
  /** What `line` counts; lines if absent. */
  unit?: "line" | "document" | undefined;
  /** The path of the field in the JSON. */
  path: (string | number)[];
  reason: string;
  /** The file, if the upload has several. */
  file?: string | undefined;
  /** The type by which clients recognise the fault, and its context, unless it is just a wrong value. */
  type?: string;
  ctx?: Record<string, unknown>;
}

/** An upload that is refused, with its first faults. */
export class UploadError extends Error {
  readonly faults: readonly UploadFault[];
  /** How many faults there are in total. */
  readonly total: number;

  constructor(fault: UploadFault | readonly UploadFault[], total?: number) {
    const faults = Array.isArray(fault) ? (fault as readonly UploadFault[]) : [fault as UploadFault];
    const [first] = faults;
    super(first === undefined ? "The upload has a fault" : describe(first));
    this.name = "UploadError";
    this.faults = faults;
    this.total = total ?? faults.length;
  }
}

function describe({ line, unit = "line", path, reason, file }: UploadFault): string {
  const text = path.length === 0 ? reason : `${path.join(".")}: ${reason}`;
  const place = line === undefined ? text : `${unit} ${line}: ${text}`;
  return file === undefined ? place : `${file}: ${place}`;
}

/** Kinds of failed sign-ins: the person can try again, needs access, or the provider must be fixed. */
export type SignInErrorKind = "broken_attempt" | "refused" | "provider_unavailable";

/** A failed sign-in at the identity provider. The message is for the person, `reason` for the log. */
export class SignInError extends Error {
  readonly kind: SignInErrorKind;
  /** A code without personal data. */
  readonly reason: string;

  constructor(kind: SignInErrorKind, reason: string, message: string) {
    super(message);
    this.name = "SignInError";
    this.kind = kind;
    this.reason = reason;
  }
}
