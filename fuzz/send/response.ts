import { connect, type Socket } from "node:net";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";

/** A response as received. */
export interface RawResponse {
  status: number;
  /** Names in lower case; if a name occurs twice, the last value. */
  headers: Map<string, string>;
  body: Buffer;
}

/** Takes the first complete response off `bytes`. Undefined if there is none yet. */
function readResponse(
  bytes: Buffer,
  method: string,
  isClosed: boolean,
): { response: RawResponse; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const after = bytes.subarray(headEnd + 4);
  // Interim responses such as "100 Continue" come first.
  if (status < 200) return readResponse(after, method, isClosed);
  if (method === "HEAD" || status === 204 || status === 304) {
    return { response: { status, headers, body: Buffer.alloc(0) }, rest: after };
  }
  const body = readBody(after, headers, isClosed);
  return body === undefined ? undefined : { response: { status, headers, body: body.body }, rest: body.rest };
}

function readBody(bytes: Buffer, headers: Map<string, string>, isClosed: boolean) {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(bytes);
  const length = headers.get("content-length");
  if (length === undefined) return isClosed ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  if (bytes.length < Number(length)) return undefined;
  return { body: bytes.subarray(0, Number(length)), rest: bytes.subarray(Number(length)) };
}

function readChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const chunks: Buffer[] = [];
  for (let from = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", from);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(bytes.subarray(from, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + length;
    if (Number.isNaN(length) || bytes.length < end + 2) return undefined;
    if (length === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(end + 2) };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    from = end + 2;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** A response's body as text; undefined if it is not text. */
export function decodeBody({ headers, body }: RawResponse): string | undefined {
  const encoding = headers.get("content-encoding");
  try {
    return utf8.decode(encoding === undefined ? body : decoders[encoding]?.(body));
  } catch {
    return undefined;
  }
}

/** The outcome of a request. */
export type Outcome = { kind: "response"; response: RawResponse } | { kind: "closed" } | { kind: "silent" };

export interface Connection {
  /** Sends a request, over a new connection if the last one is closed, and waits for its response. */
  send(bytes: Buffer, method: string): Promise<Outcome>;
  close(): void;
}

/** A kept-alive connection that sends any bytes: HTTP clients refuse to send what a fuzzer needs to send. */
export function openConnection(url: string, timeoutMs: number): Connection {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;

  function exchange(on: Socket, bytes: Buffer, method: string): Promise<Outcome> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const finish = (outcome: Outcome, isReusable: boolean) => {
        clearTimeout(timer);
        on.removeAllListeners("data");
        on.removeAllListeners("close");
        if (!isReusable) drop(on);
        resolve(outcome);
      };
      const settle = (isClosed: boolean) => {
        const read = readResponse(Buffer.concat(chunks), method, isClosed);
        if (read === undefined) {
          if (isClosed) finish({ kind: "closed" }, false);
          return;
        }
        const { response, rest } = read;
        const isReusable = !isClosed && rest.length === 0 && response.headers.get("connection") !== "close";
        finish({ kind: "response", response }, isReusable);
      };
      const timer = setTimeout(() => finish({ kind: "silent" }, false), timeoutMs);
      on.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        settle(false);
      });
      on.on("close", () => settle(true));
      on.write(bytes);
    });
  }

  function drop(one: Socket): void {
    one.destroy();
    if (socket === one) socket = undefined;
  }

  return {
    async send(bytes, method) {
      const isKept = socket !== undefined && !socket.destroyed;
      socket = isKept ? socket : await open(hostname, Number(port));
      if (socket === undefined) return { kind: "closed" };
      const outcome = await exchange(socket, bytes, method);
      // A kept-alive connection may close at any time, whatever the request: retry once on a new one.
      if (outcome.kind !== "closed" || !isKept) return outcome;
      socket = await open(hostname, Number(port));
      return socket === undefined ? outcome : await exchange(socket, bytes, method);
    },
    close: () => socket?.destroy(),
  };
}

function open(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.on("error", () => resolve(undefined));
  });
}
