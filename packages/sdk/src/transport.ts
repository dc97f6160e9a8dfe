import { type Call, type CallOptions, targetOf } from "./call.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { PresageError } from "./presage-error.ts";
import { readFailure } from "./read-error.ts";
import { readLines } from "./read-lines.ts";
import { mayRetry } from "./retry.ts";
import { retryDelayMs } from "./retry-delay.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportSettings {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string | undefined;
  csrfToken: (() => string | undefined) | undefined;
  fetch: Fetch;
  retries: number;
  timeoutMs: number;
}

/** Makes calls: one deadline, one retry loop, one table of failures. */
export interface Transport {
  /** The answer's JSON; undefined where the answer is empty. It is the server's word that it is a `Value`. */
  json<Value>(call: Call, options: CallOptions | undefined): Promise<Value>;
  /** The answer line by line, as it arrives. */
  lines(call: Call, options: CallOptions | undefined): AsyncGenerator<string, void, undefined>;
}

export function createTransport(settings: TransportSettings): Transport {
  const { baseUrl, apiKey, csrfToken, fetch } = settings;

  function start(options: CallOptions): Deadline {
    return startDeadline(options.timeoutMs ?? settings.timeoutMs, options.signal);
  }

  function requestOf({ method, body, headers }: Call, signal: AbortSignal): RequestInit {
    const token = apiKey === undefined && method !== "GET" ? csrfToken?.() : undefined;
    return {
      method,
      signal,
      headers: {
        ...headers,
        accept: "application/json",
        // A bearer token is what fetch takes off a request that is sent on to another origin.
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(token === undefined ? {} : { "x-csrf-token": token }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: apiKey === undefined ? "same-origin" : "omit",
      // A body is lost on most redirects, and an API has none.
      redirect: "error",
    };
  }

  /** Makes a call until it is answered with success, may not be made again, or would be made too late. */
  async function ask<Value>(
    call: Call,
    options: CallOptions,
    deadline: Deadline,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    const mostRetries = options.retries ?? settings.retries;
    for (let retry = 0; ; retry += 1) {
      try {
        return await askOnce(call, options, deadline, read);
      } catch (error) {
        if (retry >= mostRetries || !mayRetry(error, call)) throw error;
        const delayMs = retryDelayMs(retry, error.retryAfterMs);
        if (delayMs >= deadline.remainingMs()) throw error;
        await deadline.sleep(delayMs);
      }
    }
  }

  async function askOnce<Value>(
    call: Call,
    options: CallOptions,
    { signal }: Deadline,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const request = requestOf(call, signal);
    const response = await fetch(baseUrl + targetOf(call), request).catch((error: unknown) => {
      throw whyUnanswered(error, signal, undefined);
    });
    options.onAnswer?.({ status: response.status, headers: response.headers });
    const reading = response.ok ? read(response) : readFailure(response, apiKey);
    const value = await reading.catch((error: unknown) => {
      throw whyUnanswered(error, signal, response);
    });
    if (value instanceof PresageError) throw value;
    return value;
  }

  return {
    async json<Value>(call: Call, options: CallOptions = {}) {
      const deadline = start(options);
      try {
        return await ask(call, options, deadline, (response) => readJson<Value>(response));
      } finally {
        deadline.end();
      }
    },

    async *lines(call, options = {}) {
      const deadline = start(options);
      let answered: Response | undefined;
      try {
        answered = await ask(call, options, deadline, (response) => Promise.resolve(response));
        if (answered.body === null) return;
        yield* readLines(answered.body, { beforePart: deadline.restart, afterPart: deadline.pause });
      } catch (error) {
        throw whyUnanswered(error, deadline.signal, answered);
      } finally {
        deadline.end();
      }
    },
  };
}

async function readJson<Value>(response: Response): Promise<Value> {
  const text = await response.text();
  try {
    const value = text === "" ? undefined : JSON.parse(text);
    return value;
  } catch {
    throw new PresageError("The answer is not JSON: is this Presage's address?", {
      category: "unexpected",
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? undefined,
    });
  }
}

/** What a thrown `error` means: the call is over, it is understood already, or the connection failed. */
function whyUnanswered(error: unknown, signal: AbortSignal, response: Response | undefined): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof PresageError) return error;
  const message = response === undefined ? "Presage cannot be reached." : "The answer broke off.";
  return new PresageError(message, {
    category: "connection",
    status: response?.status,
    requestId: response?.headers.get("x-request-id") ?? undefined,
    cause: error,
  });
}
