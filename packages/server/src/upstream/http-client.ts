import type { Socket } from "bun";
import type { Cancellation } from "../platform/limits/deadline.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import {
  HttpError,
  type HttpMessage,
  maxResponseBytes,
  responseParser,
  tooLargeError,
} from "./http-parser.ts";

/** Bodies declared to be longer are announced before they are read, as `readBodyWithin` does. */
const shortBytes = 64 * 1024;

export interface HttpRequest {
  method: "GET" | "POST";
  /** The path relative to the base URL. */
  path: string;
  /** The header lines, with their line ends. */
  headers: string;
  body: string | Blob | undefined;
  signal: Cancellation;
  /** Whether the connection is opened for this request, and closed after it. */
  isAlone: boolean;
  /** Called when the head of the response is read. */
  onHead: (() => void) | undefined;
  /** Called with the length of the body so far; an error that it throws ends the exchange. */
  onLength: ((bytes: number) => void) | undefined;
}

export interface HttpResponse {
  status: number;
  retryAfter: string | undefined;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The error of an exchange that ended for a reason other than its signal. */
export class ExchangeError extends Error {
  /** 0 if the head of the response was not read. */
  readonly status: number;
  readonly retryAfter: string | undefined;

  constructor(status: number, cause: unknown, retryAfter?: string) {
    super("The exchange failed.", { cause });
    this.name = "ExchangeError";
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

interface Exchange {
  readonly request: HttpRequest;
  readonly message: HttpMessage;
  readonly resolve: (response: HttpResponse | Promise<HttpResponse>) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
  /** Undefined while the connection is being opened. */
  connection: Connection | undefined;
  hasBytes: boolean;
  isOver: boolean;
}

interface Connection extends IdleConnection {
  socket: Socket<Connection> | undefined;
  exchange: Exchange | undefined;
  /** Whether it has been used before. */
  isKept: boolean;
  /** The part of the request that the socket has not taken; `waiting` before it has taken any. */
  unsent: Uint8Array | "waiting" | undefined;
  /** Whether the other side has closed the connection cleanly. */
  hasEnded: boolean;
}

/** An HTTP/1.1 client of one origin, by its base URL of plain http. It never sends a request before the response to the previous one has been read in full. */
export function createHttpClient(url: string): { send(request: HttpRequest): Promise<HttpResponse> } {
  const { host, hostname, port, pathname } = new URL(url);
  const address = { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
  const basePath = pathname === "/" ? "" : pathname;
  const idle = keepIdle<Connection>(({ socket }) => socket?.end());

  const handlers: Bun.SocketHandler<Connection> = {
    open(socket) {
      // The deadline of each call keeps the process alive.
      socket.unref();
    },
    data: ({ data: connection }, bytes) => onData(connection, bytes),
    drain: ({ data: connection }) => writeRest(connection),
    end({ data: connection }) {
      connection.hasEnded = true;
    },
    close: ({ data: connection }) => onClose(connection),
    // `close` follows.
    error() {},
  };

  function start(connection: Connection, exchange: Exchange): void {
    const { method, path, headers, body, isAlone } = exchange.request;
    connection.exchange = exchange;
    exchange.connection = connection;
    const keep = isAlone ? "close" : "keep-alive";
    const head = `${method} ${basePath}${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${keep}\r\n${headers}`;
    const headOf = (length: number) => `${head}content-length: ${length}\r\n\r\n`;
    if (body instanceof Blob) {
      connection.unsent = "waiting";
      body
        .bytes()
        .then((bytes) => {
          if (connection.exchange !== exchange) return;
          connection.unsent = Buffer.concat([Buffer.from(headOf(bytes.length)), bytes]);
          writeRest(connection);
        })
        .catch((error: unknown) => fail(exchange, error));
      return;
    }
    const bodyLength = body === undefined ? 0 : Buffer.byteLength(body);
    const wholeHead = body === undefined ? `${head}\r\n` : headOf(bodyLength);
    const text = body === undefined ? wholeHead : wholeHead + body;
    const taken = connection.socket?.write(text) ?? 0;
    // A closed socket returns -1.
    const isTaken = taken === wholeHead.length + bodyLength;
    connection.unsent = isTaken ? undefined : Buffer.from(text).subarray(Math.max(0, taken));
  }

  function writeRest(connection: Connection): void {
    const { unsent, socket } = connection;
    if (!(unsent instanceof Uint8Array) || socket === undefined) return;
    const taken = Math.max(0, socket.write(unsent));
    connection.unsent = taken === unsent.length ? undefined : unsent.subarray(taken);
  }

  function open(exchange: Exchange): void {
    const connection: Connection = {
      socket: undefined,
      exchange: undefined,
      isKept: false,
      unsent: undefined,
      hasEnded: false,
      isClosed: false,
      idleSinceTick: 0,
      idleSinceMs: 0,
    };
    Bun.connect<Connection>({ ...address, socket: handlers, data: connection }).then(
      (socket) => {
        connection.socket = socket;
        if (!exchange.isOver && !connection.isClosed) return start(connection, exchange);
        socket.terminate();
        fail(exchange, closedError());
      },
      (error: unknown) => fail(exchange, error),
    );
  }

  function onData(connection: Connection, bytes: Uint8Array): void {
    const { exchange } = connection;
    if (exchange === undefined || connection.unsent === "waiting") {
      // No request has asked for these bytes.
      onClose(connection);
      connection.socket?.terminate();
      return;
    }
    const { message, request } = exchange;
    exchange.hasBytes = true;
    try {
      const hadHead = message.status !== 0;
      const length = responseParser().read(message, bytes);
      if (message.status !== 0) {
        if (!hadHead) onHead(message, request);
        request.onLength?.(message.length);
      }
      if (message.isComplete) finish(connection, exchange, length === bytes.length);
    } catch (error) {
      fail(exchange, error);
    }
  }

  function onHead({ declaredLength = 0 }: HttpMessage, { onHead, onLength }: HttpRequest): void {
    onHead?.();
    if (declaredLength <= shortBytes) return;
    onLength?.(declaredLength);
    onLength?.(0);
  }

  function finish(connection: Connection, exchange: Exchange, isLast: boolean): void {
    const { message, request } = exchange;
    const { status, retryAfter, contentEncoding } = message;
    connection.exchange = undefined;
    const isExact = message.body.length === message.length;
    const bytes = isExact ? message.body : message.body.subarray(0, message.length);
    const isPlain = contentEncoding === undefined || contentEncoding === "identity" || bytes.length === 0;
    const decoded = isPlain ? bytes : decode(bytes, contentEncoding, request);
    const mayKeep = isLast && message.mayKeepAlive && !request.isAlone && connection.unsent === undefined;
    settle(exchange);
    if (!mayKeep || connection.hasEnded) connection.socket?.end();
    else {
      connection.isKept = true;
      idle.add(connection);
    }
    exchange.resolve(
      decoded instanceof Uint8Array
        ? { status, retryAfter, bytes: decoded }
        : decoded.then(
            (plain) => ({ status, retryAfter, bytes: plain }),
            (error: unknown) => {
              throw new ExchangeError(status, error, retryAfter);
            },
          ),
    );
  }

  function onClose(connection: Connection): void {
    connection.isClosed = true;
    const { exchange } = connection;
    if (exchange === undefined) return;
    if (connection.isKept && !exchange.hasBytes) {
      // The server may have closed the connection before the request arrived.
      connection.exchange = undefined;
      exchange.connection = undefined;
      open(exchange);
      return;
    }
    try {
      if (!connection.hasEnded) throw closedError();
      responseParser().close(exchange.message);
      finish(connection, exchange, true);
    } catch (error) {
      fail(exchange, error);
    }
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { connection, message, reject } = exchange;
    if (exchange.isOver) return;
    reject(new ExchangeError(message.status, error, message.retryAfter));
    settle(exchange);
    if (connection === undefined) return;
    connection.exchange = undefined;
    connection.socket?.terminate();
  }

  function settle(exchange: Exchange): void {
    exchange.isOver = true;
    exchange.request.signal.removeEventListener("abort", exchange.onAbort);
    responseParser().end(exchange.message);
  }

  return {
    send(request) {
      const { signal } = request;
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
      const exchange: Exchange = {
        request,
        message: responseParser().start(),
        resolve,
        reject,
        onAbort: () => fail(exchange, signal.reason),
        connection: undefined,
        hasBytes: false,
        isOver: false,
      };
      signal.addEventListener("abort", exchange.onAbort);
      const kept = request.isAlone ? undefined : idle.take();
      if (kept === undefined) open(exchange);
      else start(kept, exchange);
      return promise;
    },
  };
}

function closedError(): HttpError {
  return new HttpError("ECONNRESET", "The connection was closed.");
}

const formats: Record<string, string> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

/** Decodes a body in an encoding that was not asked for. */
async function decode(bytes: Uint8Array<ArrayBuffer>, encoding: string, { onLength }: HttpRequest) {
  const format = formats[encoding];
  if (format === undefined) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format as "gzip"));
  const decoded = await readBodyWithin(new Response(stream), maxResponseBytes, onLength);
  if (decoded === undefined) throw tooLargeError();
  return decoded;
}

/** Servers close kept connections after 5 s (uvicorn, Node.js) or later. */
const maxIdleMs = 4_000;
/** The most idle connections that are kept. Any number may be in flight. */
const maxIdle = 2_048;
const tickMs = 5;
/**
 * How many ticks a connection rests before it is reused. Nothing in HTTP/1.1 says which request a response belongs to, so an unsolicited one
 * has to arrive while no caller waits. Each tick is a turn of the event loop, which reads whatever has arrived.
 */
const restTicks = 3;

interface IdleConnection {
  isClosed: boolean;
  /** When its last response ended. */
  idleSinceTick: number;
  idleSinceMs: number;
}

/** Connections of one origin that wait for their next call. `close` is called for those that have waited too long, or are too many. */
function keepIdle<Connection extends IdleConnection>(close: (connection: Connection) => void) {
  /** Both oldest first. */
  const resting: Connection[] = [];
  const rested: Connection[] = [];
  let tick = 0;
  let timer: { isSlow: boolean; stop(): void } | undefined;

  function schedule(isSlow: boolean): void {
    timer?.stop();
    const timeout = setTimeout(onTick, isSlow ? maxIdleMs / 4 : tickMs);
    timeout.unref();
    timer = { isSlow, stop: () => clearTimeout(timeout) };
  }

  function onTick(): void {
    timer = undefined;
    tick += 1;
    const stillResting = resting.findIndex(({ idleSinceTick }) => tick - idleSinceTick < restTicks);
    const ready = resting.splice(0, stillResting < 0 ? resting.length : stillResting);
    for (const one of ready) if (!one.isClosed) rested.push(one);
    const oldestMs = performance.now() - maxIdleMs;
    const young = rested.findIndex(({ idleSinceMs }) => idleSinceMs > oldestMs);
    for (const old of rested.splice(0, young < 0 ? rested.length : young)) close(old);
    if (resting.length > 0) schedule(false);
    else if (rested.length > 0) schedule(true);
  }

  return {
    /** The connection that was used last among those that have rested. */
    take(): Connection | undefined {
      for (let last = rested.pop(); last !== undefined; last = rested.pop()) {
        if (last.isClosed) continue;
        // A process that was suspended has not ticked.
        if (performance.now() - last.idleSinceMs < maxIdleMs) return last;
        close(last);
      }
      return undefined;
    },
    add(connection: Connection): void {
      if (resting.length + rested.length >= maxIdle) {
        close(connection);
        return;
      }
      connection.idleSinceTick = tick;
      connection.idleSinceMs = performance.now();
      resting.push(connection);
      if (timer === undefined || timer.isSlow) schedule(false);
    },
  };
}
