/** Options of every method. */
export interface CallOptions {
  /** Aborts the call, including retries and waits; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit of the whole call in milliseconds, including retries. For an export, it applies to the start and again to each chunk. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries. */
  retries?: number | undefined;
  /** Receives the status and headers of every response, including those that are retried, for example `Server-Timing`. */
  onResponse?: ((response: { status: number; headers: Headers }) => void) | undefined;
}

/** Options of lists that are read page by page. */
export interface ListOptions extends CallOptions {
  /** Stops after this many items; later pages are not requested. All items if absent. */
  atMost?: number | undefined;
}

/** A page of a list. */
export interface PageOptions extends CallOptions {
  limit?: number | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
}

/** Options of methods that create or change something. */
export interface WriteOptions extends CallOptions {
  /**
   * The server answers a repeated request with the same key as it answered the first. 1 to 200 visible ASCII characters,
   * remembered for a day. If absent, each call has a new key.
   */
  idempotencyKey?: string | undefined;
}

/** One call of the API. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  content?: string | Uint8Array<ArrayBuffer> | Blob | FormData | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
  /**
   * Whether repeating the call is harmless, so that it may be retried even if the outcome of the first try is unknown. If absent,
   * only a GET is.
   */
  isRepeatable?: boolean;
}

/** Query parameters; those that are null or undefined are not sent. */
export type Query = Record<string, string | number | boolean | null | undefined>;

/** A query of the contract in which any field may be undefined, and a text may also be a number or a boolean. */
export type QueryOf<Fields> = {
  [Name in keyof Fields]?:
    | Fields[Name]
    | (string extends Fields[Name] ? number | boolean : never)
    | undefined;
};

/** Path and query of a call, without parameters that are not set. */
export function targetOf({ path, query = {} }: Pick<Call, "path" | "query">): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) set.set(name, String(value));
  }
  return set.size === 0 ? path : `${path}?${set}`;
}

/** Makes a write repeatable: one key for a call and all its retries. */
export function underOneKey(options: WriteOptions = {}): Required<Pick<Call, "headers" | "isRepeatable">> {
  return {
    headers: { "idempotency-key": options.idempotencyKey ?? newIdempotencyKey() },
    isRepeatable: true,
  };
}

/** A key for `idempotencyKey`: 128 random bits in hexadecimal. `crypto.randomUUID` does not exist on pages served over plain http. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
