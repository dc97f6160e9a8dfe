/** What every method takes beside its request. */
export interface CallOptions {
  /** Ends the call, its retries and its waits; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call, retries included. For an export: until its start, and then for each part. */
  timeoutMs?: number | undefined;
  /** How often the call is made again at most. */
  retries?: number | undefined;
  /** Hears of every answer, those that are tried again too: their status and headers, `Server-Timing` for one. */
  onAnswer?: ((answer: { status: number; headers: Headers }) => void) | undefined;
}

/** What methods that create or change something take beside their request. */
export interface WriteOptions extends CallOptions {
  /**
   * By which the server knows a further try of the same request, and answers it as it answered the first: 1 to 200 visible ASCII
   * characters, remembered for a day. Absent: one of the call's own.
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
  /** Whether a second run does no harm, so that it may be made again though nobody knows what became of the first. */
  isRepeatable: boolean;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Where a call goes: path and query, without what is not set. */
export function targetOf({ path, query = {} }: Pick<Call, "path" | "query">): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) set.set(name, String(value));
  }
  return set.size === 0 ? path : `${path}?${set}`;
}
