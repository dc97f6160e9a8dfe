import { type Call, type CallOptions, targetOf } from "./call.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { PresageError } from "./presage-error.ts";
import { isRedirect, readError, toRedirectError } from "./read-error.ts";
import { maxRetryAfterMs, mayRetry, retryDelayMs } from "./retry.ts";

/** As much of `fetch` as the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What all calls of a client share. */
export interface TransportSettings {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
  csrfToken: (() => string | undefined) | undefined;
  fetch: Fetch;
  retries: number;
  timeoutMs: number;
}

/** Makes all calls: the one place for deadlines, retries and errors. */
export interface Transport {
  /** The response's JSON; undefined if the response is empty. That it is a `Value` is not checked. */
  json<Value>(call: Call, options: CallOptions | undefined): Promise<Value>;
  /** The response as it is. */
  text(call: Call, options: CallOptions | undefined): Promise<string>;
  /** The response's bytes as they arrive. */
  chunks(call: Call, options: CallOptions | undefined): AsyncGenerator<Uint8Array, void, undefined>;
  /** The response line by line, as it arrives. */
  lines(call: Call, options: CallOptions | undefined): AsyncGenerator<string, void, undefined>;
}

/** Makes the one transport of a client. */
export function createTransport(settings: TransportSettings): Transport {
  const { baseUrl, apiKey, csrfToken, fetch } = settings;

  function start(options: CallOptions): Deadline {
    return startDeadline(baseUrl, options.timeoutMs ?? settings.timeoutMs, options.signal);
  }

  function requestOf({ method, body, content, headers }: Call, signal: AbortSignal): RequestInit {
    const token = apiKey === undefined && method !== "GET" ? csrfToken?.() : undefined;
    return {
      method,
      signal,
      headers: {
        ...headers,
        accept: "application/json",
        // fetch removes a bearer token from a request that is redirected to another origin.
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(token === undefined ? {} : { "x-csrf-token": token }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(content === undefined ? {} : { body: content }),
      // Node.js requires it for a stream.
      ...(content instanceof ReadableStream ? { duplex: "half" } : {}),
      credentials: apiKey === undefined ? "same-origin" : "omit",
      // Most redirects lose the body, and the API has none.
      redirect: "manual",
    };
  }

  /** Retries a call until it succeeds, must not be retried, or the pause before a retry would be too long. */
  async function send<Value>(
    call: Call,
    options: CallOptions,
    deadline: Deadline,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    const maxRetries = options.retries ?? settings.retries;
    for (let retry = 0; ; retry += 1) {
      try {
        return await sendOnce(call, options, deadline, read);
      } catch (error) {
        if (retry >= maxRetries || !mayRetry(error, call)) throw error;
        if ((error.retryAfterMs ?? 0) > maxRetryAfterMs) throw error;
        const delayMs = retryDelayMs(retry, error.retryAfterMs);
        if (delayMs >= deadline.remainingMs()) throw error;
        await deadline.sleep(delayMs);
      }
    }
  }

  async function sendOnce<Value>(
    call: Call,
    options: CallOptions,
    { signal }: Deadline,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const request = requestOf(call, signal);
    const response = await fetch(baseUrl + targetOf(call), request).catch((error: unknown) => {
      throw toCallError(error, signal, baseUrl, undefined);
    });
    options.onResponse?.({ status: response.status, headers: response.headers });
    if (isRedirect(response)) {
      await response.body?.cancel();
      throw toRedirectError(response, baseUrl, call.path);
    }
    const reading = response.ok ? read(response) : readError(response, baseUrl, apiKey);
    const value = await reading.catch((error: unknown) => {
      throw toCallError(error, signal, baseUrl, response);
    });
    if (value instanceof PresageError) throw value;
    return value;
  }

  async function sendInTime<Value>(
    call: Call,
    options: CallOptions,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    const deadline = start(options);
    try {
      return await send(call, options, deadline, read);
    } finally {
      deadline.end();
    }
  }

  return {
    json: <Value>(call: Call, options: CallOptions = {}) =>
      sendInTime(call, options, (response) => readJson<Value>(response, baseUrl)),

    text: (call, options = {}) => sendInTime(call, options, (response) => response.text()),

    chunks: (call, options) => received(call, options, readChunks),
    lines: (call, options) => received(call, options, readLines),
  };

  /** Yields what is read from a response as it arrives. */
  async function* received<Item>(
    call: Call,
    options: CallOptions = {},
    read: (chunks: ReadableStream<Uint8Array>, watch: ChunkWatch) => AsyncGenerator<Item, void, undefined>,
  ): AsyncGenerator<Item, void, undefined> {
    const deadline = start(options);
    let response: Response | undefined;
    try {
      response = await send(call, options, deadline, (received) => Promise.resolve(received));
      if (response.body === null) return;
      yield* read(response.body, { beforeChunk: deadline.restart, afterChunk: deadline.pause });
    } catch (error) {
      throw toCallError(error, deadline.signal, baseUrl, response);
    } finally {
      deadline.end();
    }
  }
}

async function readJson<Value>(response: Response, baseUrl: string): Promise<Value> {
  const text = await response.text();
  try {
    const value = text === "" ? undefined : JSON.parse(text);
    return value;
  } catch {
    throw new PresageError(`The response from ${baseUrl} is not JSON; is this the URL of a Presage server?`, {
      category: "unexpected",
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? undefined,
    });
  }
}

/** The error to throw for a caught one: the signal's reason, the error itself, or a failed connection. */
function toCallError(
  error: unknown,
  signal: AbortSignal,
  baseUrl: string,
  response: Response | undefined,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof PresageError) return error;
  const message =
    response === undefined
      ? `Presage cannot be reached at ${baseUrl}.`
      : `The response from ${baseUrl} was cut off.`;
  return new PresageError(message, {
    category: "connection",
    status: response?.status,
    requestId: response?.headers.get("x-request-id") ?? undefined,
    cause: error,
  });
}

/** Called before and after each wait for a chunk. */
export interface ChunkWatch {
  beforeChunk(): void;
  afterChunk(): void;
}

async function* readChunks(
  body: ReadableStream<Uint8Array>,
  { beforeChunk, afterChunk }: ChunkWatch,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      beforeChunk();
      const { done, value } = await reader.read();
      afterChunk();
      if (done) return;
      yield value;
    }
  } finally {
    // The reader may stop early; after a failure there is nothing left to cancel.
    await reader.cancel().catch(() => {});
  }
}

/** Yields the lines of a body without their line feeds. Throws if the body does not end with one: it was cut off. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  watch: ChunkWatch,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of readChunks(body, watch)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") throw new TypeError("The last line is incomplete.");
}
