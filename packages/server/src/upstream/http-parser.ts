/** A response could not be read: it is not HTTP, its head or body is too long, or its connection closed. The codes are those of Bun's `fetch`. */
export class HttpError extends Error {
  readonly code: string;

  constructor(
    code: "ECONNRESET" | "Malformed_HTTP_Response" | "InvalidContentLength" | "too_large",
    message: string,
  ) {
    super(message);
    this.name = "HttpError";
    this.code = code;
  }
}

/** More than any completion needs. */
export const maxResponseBytes = 64 * 1024 * 1024;

export function tooLargeError(): HttpError {
  return new HttpError("too_large", `The response is larger than ${maxResponseBytes} bytes.`);
}

/** One response while it is read. */
export interface HttpMessage {
  /** 0 until the head is read. */
  status: number;
  isComplete: boolean;
  /** Whether the connection may be used again, as far as the response says. */
  mayKeepAlive: boolean;
  /** The response's `Content-Length`. A response with several, or with chunks as well, is not read. */
  declaredLength: number | undefined;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body so far; the bytes after `length` are room for more. */
  body: Uint8Array<ArrayBuffer>;
  length: number;
  /** Bytes of the heads of this response and of interim responses before it. */
  headLength: number;
  /** The field that is being read: name and value may come in pieces. */
  name: string;
  value: string;
  isInValue: boolean;
  /** The address of llhttp's state. */
  readonly parser: number;
}

export interface ResponseParser {
  /** Every message must be ended. */
  start(): HttpMessage;
  /** Reads on, and returns how many of the bytes belong to the message. Throws an `HttpError`. */
  read(message: HttpMessage, bytes: Uint8Array): number;
  /** The connection was closed cleanly, which ends some responses. Throws an `HttpError` if it does not end this one. */
  close(message: HttpMessage): void;
  end(message: HttpMessage): void;
}

interface Llhttp {
  memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  llhttp_alloc(type: number): number;
  llhttp_reset(parser: number): void;
  llhttp_execute(parser: number, at: number, length: number): number;
  llhttp_finish(parser: number): number;
  llhttp_get_error_pos(parser: number): number;
  llhttp_get_http_major(parser: number): number;
  llhttp_should_keep_alive(parser: number): number;
}

// Constants for llhttp's types, its errors and what its callbacks return.
const typeOfResponses = 2;
const ok = 0;
const unexpectedLength = 4;
const invalidLength = 11;
const paused = 21;
const stop = -1;

const maxHeadBytes = 32 * 1024;
/** At most this much is copied into llhttp's memory at once. */
const pieceBytes = 64 * 1024;

const noBody = new Uint8Array();

let shared: ResponseParser | undefined;

/** llhttp, the parser of Node.js, as shipped by undici. It is strict, with no leniency turned on, and compiled once, at the first call. */
export function responseParser(): ResponseParser {
  shared ??= createResponseParser();
  return shared;
}

function createResponseParser(): ResponseParser {
  const idle: number[] = [];
  let current: HttpMessage | undefined;
  let isTooLarge = false;

  const callbacks: Record<string, (parser: number, first: number, second: number, third: number) => number> =
    {
      wasm_on_message_begin: () => ok,
      wasm_on_url: () => ok,
      wasm_on_status: () => ok,
      wasm_on_header_field(_, at, length) {
        if (current === undefined) return stop;
        // Trailers are dropped.
        if (current.status !== 0) return ok;
        if (current.isInValue) endField(current);
        // The length tells whether a name is of interest, unless this is only a part of the name.
        const isPart = current.name !== "" || at + length === pieceEnd;
        if (isPart || isOfInterest(length)) current.name += latin1(at, length);
        return ok;
      },
      wasm_on_header_value(_, at, length) {
        if (current === undefined) return stop;
        if (current.status !== 0) return ok;
        current.isInValue = true;
        if (isOfInterest(current.name.length)) current.value += latin1(at, length);
        return ok;
      },
      wasm_on_headers_complete(parser, status) {
        if (current === undefined) return stop;
        endField(current);
        if (status === 101 || llhttp.llhttp_get_http_major(parser) !== 1) return stop;
        if (status < 200) {
          current.declaredLength = current.retryAfter = current.contentEncoding = undefined;
          return ok;
        }
        current.status = status;
        isTooLarge = (current.declaredLength ?? 0) > maxResponseBytes;
        if (isTooLarge) return stop;
        return ok;
      },
      wasm_on_body(_, at, length) {
        if (current === undefined) return stop;
        isTooLarge = current.length + length > maxResponseBytes;
        if (isTooLarge) return stop;
        append(current, at, length);
        return ok;
      },
      wasm_on_message_complete(parser) {
        if (current === undefined) return stop;
        // The end of an interim response, which is followed by another.
        if (current.status === 0) return ok;
        current.isComplete = true;
        current.mayKeepAlive = llhttp.llhttp_should_keep_alive(parser) === 1;
        // Whatever follows belongs to no request.
        return paused;
      },
    };

  const compiled: Uint8Array<ArrayBuffer> = require("undici/lib/llhttp/llhttp-wasm.js");
  const instance = new WebAssembly.Instance(new WebAssembly.Module(compiled), { env: callbacks });
  const llhttp = instance.exports as unknown as Llhttp;
  llhttp._initialize();
  const piece = llhttp.malloc(pieceBytes);
  let memory = new Uint8Array(llhttp.memory.buffer as ArrayBuffer);
  let texts = Buffer.from(memory.buffer);
  /** Where the bytes that are being read end. */
  let pieceEnd = piece;

  function allocate(): number {
    const parser = llhttp.llhttp_alloc(typeOfResponses);
    // The memory has a new buffer once it has grown.
    memory = new Uint8Array(llhttp.memory.buffer as ArrayBuffer);
    texts = Buffer.from(memory.buffer);
    return parser;
  }

  function latin1(at: number, length: number): string {
    return texts.toString("latin1", at, at + length);
  }

  function append(message: HttpMessage, at: number, count: number): void {
    const length = message.length + count;
    if (message.length === 0) message.body = memory.slice(at, at + count);
    else {
      if (length > message.body.length) {
        const grown = new Uint8Array(Math.max(length, 2 * message.length));
        grown.set(message.body);
        message.body = grown;
      }
      message.body.set(memory.subarray(at, at + count), message.length);
    }
    message.length = length;
  }

  function execute(message: HttpMessage, bytes: Uint8Array): number {
    memory.set(bytes, piece);
    pieceEnd = piece + bytes.length;
    current = message;
    isTooLarge = false;
    const error = llhttp.llhttp_execute(message.parser, piece, bytes.length);
    current = undefined;
    if (error === ok) return bytes.length;
    if (error === paused && message.isComplete) return llhttp.llhttp_get_error_pos(message.parser) - piece;
    throw toError(error);
  }

  function toError(error: number): HttpError {
    if (isTooLarge) return tooLargeError();
    const code =
      error === invalidLength || error === unexpectedLength
        ? "InvalidContentLength"
        : "Malformed_HTTP_Response";
    return new HttpError(code, `The response is not HTTP (llhttp's error ${error}).`);
  }

  return {
    start: () => ({
      status: 0,
      isComplete: false,
      mayKeepAlive: false,
      declaredLength: undefined,
      retryAfter: undefined,
      contentEncoding: undefined,
      body: noBody,
      length: 0,
      headLength: 0,
      name: "",
      value: "",
      isInValue: false,
      parser: idle.pop() ?? allocate(),
    }),
    read(message, bytes) {
      let read = 0;
      while (read < bytes.length && !message.isComplete) {
        const isHead = message.status === 0;
        const room = isHead ? maxHeadBytes - message.headLength : pieceBytes;
        if (room === 0)
          throw new HttpError("Malformed_HTTP_Response", `The head is longer than ${maxHeadBytes} bytes.`);
        const end = Math.min(bytes.length, read + Math.min(room, pieceBytes));
        if (isHead) message.headLength += end - read;
        read += execute(message, read === 0 && end === bytes.length ? bytes : bytes.subarray(read, end));
      }
      return read;
    },
    close(message) {
      current = message;
      const error = message.status === 0 ? stop : llhttp.llhttp_finish(message.parser);
      current = undefined;
      if (!message.isComplete)
        throw new HttpError("ECONNRESET", `The connection was closed (llhttp: ${error}).`);
    },
    end(message) {
      llhttp.llhttp_reset(message.parser);
      idle.push(message.parser);
    },
  };
}

function endField(message: HttpMessage): void {
  const { name, value } = message;
  if (equals(name, "content-length")) message.declaredLength = Number(value);
  else if (equals(name, "retry-after")) message.retryAfter = value.trim();
  else if (equals(name, "content-encoding")) message.contentEncoding = value.trim().toLowerCase();
  message.name = "";
  message.value = "";
  message.isInValue = false;
}

/** Whether a name of this length may belong to a field that is read. */
function isOfInterest(length: number): boolean {
  return length === 11 || length === 14 || length === 16;
}

function equals(name: string, expected: string): boolean {
  return name.length === expected.length && name.toLowerCase() === expected;
}
