import { ServiceError, UpstreamError } from "../platform/errors.ts";
import { type Cancellation, signalOf } from "../platform/limits/deadline.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import type { TraceHeaders } from "../platform/observability/tracing.ts";
import { defined } from "../platform/words.ts";
import { classifyError, type UnreachableReason, unreachableReason } from "./failures.ts";
import { createHttpClient, ExchangeError, type HttpResponse } from "./http-client.ts";
import { maxResponseBytes } from "./http-parser.ts";
import type { SessionHeader } from "./upstream.ts";

/** Bun keeps this many idle connections: for all plain HTTP of a process together, and for each TLS configuration. */
const idleOfPool = 64;
/** The most pools of one URL. Bun forgets TLS configurations beyond some sixty, with their connections. */
const maxPools = 32;

/** Connections that a call may reuse, and that wait for other calls when it has ended. */
export interface ConnectionPool {
  /** Undefined for Bun's own pool. */
  readonly session: Bun.FetchSession | undefined;
  inFlight: number;
}

/**
 * Keeps more connections to an https URL than Bun does by itself: every 64 calls in flight have their own pool. A new connection with its
 * handshake costs ten times a call on a kept one (docs/decisions/0014-upstream-connections.md). The first pool is Bun's, which `sharedBy` URLs share.
 */
export function createConnectionPools(url: string, sharedBy: number): { take(): ConnectionPool } | undefined {
  if (!url.startsWith("https:")) return undefined;
  const pools: ConnectionPool[] = [];
  const roomIn = (index: number) => (index === 0 ? Math.floor(idleOfPool / sharedBy) : idleOfPool);

  function add(): ConnectionPool {
    const session = pools.length === 0 ? undefined : createSession(url, pools.length);
    const pool = { session, inFlight: 0 };
    pools.push(pool);
    return pool;
  }

  return {
    take() {
      const pool =
        pools.find(({ inFlight }, index) => inFlight < roomIn(index)) ??
        (pools.length < maxPools
          ? add()
          : pools.reduce((least, one) => (one.inFlight < least.inFlight ? one : least)));
      pool.inFlight += 1;
      return pool;
    },
  };
}

/** Sessions with the same TLS configuration share their connections, so this one's differs in a setting that has no effect. */
function createSession(url: string, index: number): Bun.FetchSession {
  // How long a server remembers a TLS session; in seconds, above the default of 300.
  const sessionTimeout = 301 + (Bun.hash.crc32(url) % 1_000_000) * maxPools + index;
  return new Bun.FetchSession({ tls: { sessionTimeout } as BunFetchRequestInitTLS });
}

export interface UpstreamCall<Read = unknown> {
  method: "GET" | "POST";
  /** The path relative to the base URL. */
  path: string;
  body?: string | Blob;
  signal: Cancellation;
  /** Called with the response's length so far, before more of it is read; an error that it throws ends the call. */
  onResponseLength?: ((bytes: number) => void) | undefined;
  /** Takes no connection from the pool: the other side may have closed one unnoticed. */
  freshConnection?: boolean;
  /** The client's session, passed on. */
  session?: SessionHeader | undefined;
  /** Headers in addition to the usual ones. */
  trace?: TraceHeaders | undefined;
  /** Reads the response. Throws an `UpstreamError` if it is not what was asked for. */
  read(response: ReadResponse): Read;
}

/** A 2xx response, read in full. */
export interface ReadResponse {
  status: number;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its `Retry-After`, needed because the body may carry an error. */
  retryAfter?: string | undefined;
  /** The body as text, with our credential redacted. */
  text(): string;
}

/** The response that was asked for, from a replica. */
export interface CompleteResponse<Read> {
  /** The base URL that was asked. */
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  read: Read;
}

export type Send = <Read>(call: UpstreamCall<Read>) => Promise<CompleteResponse<Read>>;

/** The connection failed before any response, so the request may be sent again. */
export class NoResponseError extends UpstreamError {
  readonly reason: UnreachableReason;
  /** The error code of the system or of OpenSSL. */
  readonly code: string;

  constructor(cause: unknown) {
    super("unavailable", "The upstream cannot be reached.", { cause });
    this.code = codeOf(cause);
    this.reason = unreachableReason(this.code);
  }
}

export interface SendOptions {
  url: string;
  /** The addresses of all replicas, which share connections. */
  urls: readonly string[];
  apiKey: string | undefined;
  /** Whether a connection is used for more than one call. True if absent. */
  keepAlive?: boolean;
  /** How long a replica may take to begin a response. If absent or 0, until the deadline. */
  firstByteTimeoutMs?: number;
  /** What plain http goes over; `fetch` if absent. */
  client?: "fetch" | "sockets";
}

/** Sends one request to one address and reads the whole response. Throws an `UpstreamError` for any status other than 2xx. */
export function createSendOnce(options: SendOptions): Send {
  const { url, apiKey, firstByteTimeoutMs = 0 } = options;
  const headers: Record<string, string> = defined({
    "content-type": "application/json",
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}`,
  });
  const credentials = apiKey === undefined ? [] : spellingsOf(apiKey);
  const withoutCredential = (text: string) =>
    credentials.reduce((rest, credential) => rest.replaceAll(credential, "[redacted]"), text);
  const exchange =
    options.client === "sockets" && takesSockets(url, headers)
      ? createSocketExchange(options, headers)
      : createFetch(options, headers);

  return async (call) => {
    const firstByte = firstByteTimeoutMs === 0 ? undefined : startFirstByteTimer(firstByteTimeoutMs);
    const signal =
      firstByte === undefined ? call.signal : AbortSignal.any([signalOf(call.signal), firstByte.signal]);
    let response: HttpResponse;
    try {
      response = await exchange(call, signal, firstByte?.end);
    } catch (error) {
      throw signal.aborted ? signal.reason : error instanceof ExchangeError ? toUpstreamError(error) : error;
    } finally {
      firstByte?.end();
    }
    const { status, bytes, retryAfter } = response;
    const text = () => withoutCredential(new TextDecoder().decode(bytes));
    if (status >= 200 && status < 300)
      return { url, bytes, read: call.read({ status, bytes, retryAfter, text }) };
    throw classifyError({ status, body: text(), retryAfter });
  };
}

/** Rejects with an `ExchangeError`, an `UpstreamError` or a `ServiceError`. `onHead` is called once the response has begun. */
type ExchangeOnce = (
  call: UpstreamCall,
  signal: Cancellation,
  onHead: (() => void) | undefined,
) => Promise<HttpResponse>;

/** The headers of one call, besides those that all calls have. */
function ownHeaders({ session, trace }: UpstreamCall): Record<string, string> | undefined {
  if (session === undefined && trace === undefined) return undefined;
  return { ...(session && { [session.name]: session.value }), ...trace };
}

function createFetch(
  { url, urls, keepAlive = true }: SendOptions,
  headers: Record<string, string>,
): ExchangeOnce {
  const pools = keepAlive ? createConnectionPools(url, urls.length) : undefined;

  const exchange = async (
    call: UpstreamCall,
    signal: Cancellation,
    onHead?: () => void,
    pool?: ConnectionPool,
  ): Promise<HttpResponse> => {
    const { method, path, body, freshConnection, onResponseLength } = call;
    const own = ownHeaders(call);
    let response: Response;
    try {
      response = await fetch(url + path, {
        method,
        headers: own === undefined ? headers : { ...headers, ...own },
        signal: signalOf(signal),
        // A redirect would send the credential to a host that is not configured.
        redirect: "manual",
        // Bun gives up a silent response after 300 s; the deadline is our own.
        timeout: false,
        body: body ?? null,
        keepalive: keepAlive && freshConnection !== true,
        session: pool?.session,
      });
    } catch (error) {
      throw new ExchangeError(0, error);
    }
    onHead?.();
    const { status } = response;
    const retryAfter = response.headers.get("retry-after") ?? undefined;
    const bytes = await readResponse(response, onResponseLength, retryAfter);
    return { status, bytes, retryAfter };
  };

  if (pools === undefined) return exchange;
  return async (call, signal, onHead) => {
    const pool = pools.take();
    try {
      return await exchange(call, signal, onHead, pool);
    } finally {
      pool.inFlight -= 1;
    }
  };
}

/** Whether sockets can be used: other schemes, and hosts behind a proxy, need `fetch`. */
function takesSockets(url: string, headers: Record<string, string>): boolean {
  const { http_proxy, HTTP_PROXY, ALL_PROXY, all_proxy } = process.env;
  const hasProxy = [http_proxy, HTTP_PROXY, ALL_PROXY, all_proxy].some((proxy) => proxy);
  return url.startsWith("http:") && !hasProxy && Object.values(headers).every(isHeaderValue);
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}

function createSocketExchange(
  { url, keepAlive = true }: SendOptions,
  headers: Record<string, string>,
): ExchangeOnce {
  const client = createHttpClient(url);
  const writeHeaders = (fields: Record<string, string>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
  const usualHeaders = writeHeaders(headers);

  return (call, signal, onHead) => {
    const { method, path, body, freshConnection, onResponseLength: onLength } = call;
    const own = ownHeaders(call);
    if (own !== undefined && !Object.values(own).every(isHeaderValue))
      throw new NoResponseError(new TypeError("A header has characters that no header may have."));
    const headers = own === undefined ? usualHeaders : usualHeaders + writeHeaders(own);
    const isAlone = !keepAlive || freshConnection === true;
    return client.send({ method, path, headers, body, signal, isAlone, onHead, onLength });
  };
}

/** A timer whose signal is aborted if the response has not begun in time. */
function startFirstByteTimer(timeoutMs: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(
    () =>
      controller.abort(
        new UpstreamError("timeout", `The upstream did not begin its response within ${timeoutMs} ms.`),
      ),
    timeoutMs,
  );
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

async function readResponse(
  response: Response,
  onLength: UpstreamCall["onResponseLength"],
  retryAfter: string | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    bytes = await readBodyWithin(response, maxResponseBytes, onLength);
  } catch (error) {
    if (error instanceof ServiceError) await discard(response);
    throw new ExchangeError(response.status, error, retryAfter);
  }
  if (bytes !== undefined) return bytes;
  await discard(response);
  throw tooLargeError(response.status);
}

function tooLargeError(status: number): UpstreamError {
  return new UpstreamError("upstream", `The upstream's response is larger than ${maxResponseBytes} bytes.`, {
    status,
  });
}

/** An unread response would keep the upstream busy until it is garbage-collected. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

/** A credential as configured, and as servers write it into JSON: some escape slashes. */
function spellingsOf(credential: string): string[] {
  const inJson = JSON.stringify(credential).slice(1, -1);
  return [credential, inJson, inJson.replaceAll("/", "\\/")];
}

function toUpstreamError(error: ExchangeError): UpstreamError | ServiceError {
  return error.status === 0 ? toConnectionError(error.cause) : toBrokenResponseError(error);
}

function toConnectionError(error: unknown): UpstreamError {
  if (/^(Malformed_HTTP|InvalidContentLength$)/.test(codeOf(error))) {
    return new UpstreamError("upstream", "The upstream sent a response that is not HTTP.", { cause: error });
  }
  return new NoResponseError(error);
}

function toBrokenResponseError({
  cause: error,
  status,
  retryAfter,
}: ExchangeError): UpstreamError | ServiceError {
  if (error instanceof ServiceError) {
    if (error.code !== "memory_exceeded") return error;
    const message =
      "The upstream's response needs more memory than one request may use (PRESAGE_MEMORY_BUDGET_BYTES).";
    return new UpstreamError("upstream", message, { status, cause: error });
  }
  if (codeOf(error) === "too_large") return tooLargeError(status);
  // An error response says what it is before its body.
  if (status >= 300) return classifyError({ status, body: "", retryAfter });
  if (codeOf(error) === "ECONNRESET") {
    return new UpstreamError("unavailable", "The upstream broke off its response.", { cause: error });
  }
  return new UpstreamError("upstream", "The upstream's response cannot be read.", { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
