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

/** One call of the API. */
export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether a second run does no harm, so that an answer that broke off may be asked for again. */
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
