/** Options of every method. */
export interface CallOptions {
  /** Aborts the call, including its retries and waits; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit of the call in milliseconds, including retries. For an export: until its start, and then for each part. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries. */
  retries?: number | undefined;
  /** Called with the status and headers of every response, including those that are retried. */
  onAnswer?: ((answer: { status: number; headers: Headers }) => void) | undefined;
}

/** Options of methods that create something. */
export interface WriteOptions extends CallOptions {
  /**
   * Identifies the request, so that the server gives a retry the first attempt's response: 1 to 200 visible ASCII
   * characters, remembered for a day. By default, a new key for each call.
   */
  idempotencyKey?: string | undefined;
}

/** One call of the API. */
export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the call may be repeated if the outcome of the first attempt is unknown. */
  isRepeatable: boolean;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The path and query of a call, without unset parameters. */
export function targetOf({ path, query = {} }: Pick<Call, "path" | "query">): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) set.set(name, String(value));
  }
  return set.size === 0 ? path : `${path}?${set}`;
}
