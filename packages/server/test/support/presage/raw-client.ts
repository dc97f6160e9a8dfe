import { connect, type Socket } from "node:net";

export interface RawResponse {
  status: number;
  headers: Headers;
  body: string;
}

/** One kept-alive connection for sequential requests, like that of an agent's HTTP client. */
export interface RawClient {
  socket: Socket;
  /** Whether the other side has closed the connection. */
  isClosed(): boolean;
  /** Sends one request and waits for its response; rejects if the connection closes without one. */
  send(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<RawResponse>;
  /** Waits for one response to a request that the test wrote to `socket`. */
  answer(): Promise<RawResponse>;
}

export async function openRawClient(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let unread = Buffer.alloc(0);
  let isClosed = false;
  let waiting: PromiseWithResolvers<RawResponse> | undefined;
  const settle = () => {
    const taken = takeResponse(unread);
    if (taken !== undefined) {
      unread = taken.rest;
      waiting?.resolve(taken.response);
      waiting = undefined;
    } else if (isClosed) {
      waiting?.reject(new Error("The connection was closed without an answer."));
      waiting = undefined;
    }
  };
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    settle();
  });
  socket.on("close", () => {
    isClosed = true;
    settle();
  });
  const client: RawClient = {
    socket,
    isClosed: () => isClosed,
    send(method, path, headers = {}, body = "") {
      const lines = Object.entries({
        host: "presage",
        "content-length": Buffer.byteLength(body),
        ...headers,
      });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
      return client.answer();
    },
    answer() {
      waiting = Promise.withResolvers();
      const { promise } = waiting;
      settle();
      return promise;
    },
  };
  return client;
}

function takeResponse(bytes: Buffer): { response: RawResponse; rest: Buffer<ArrayBuffer> } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const bodyEnd = headEnd + 4 + Number(headers.get("content-length") ?? 0);
  if (bytes.length < bodyEnd) return undefined;
  return {
    response: {
      status: Number(statusLine.split(" ")[1]),
      headers,
      body: bytes.subarray(headEnd + 4, bodyEnd).toString(),
    },
    rest: Buffer.from(bytes.subarray(bodyEnd)),
  };
}
