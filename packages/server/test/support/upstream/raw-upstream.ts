import { createServer, type Socket } from "node:net";
import { freePort } from "../free-port.ts";
import { upstreamHost } from "./as-replicas.ts";
import { completion } from "./upstream.ts";

/** One raw request, and its connection. */
export interface RawExchange {
  socket: Socket;
  head: string;
  body: string;
  /** Counted from 1, over all connections. */
  number: number;
  /** Counted from 1, on this connection. */
  numberOnConnection: number;
}

export type Behaviour = (exchange: RawExchange) => void;

/** An upstream on raw TCP, to which a test writes its responses. */
export interface RawUpstream {
  url: string;
  /** Every complete request, oldest first. */
  received: RawExchange[];
  stop(): Promise<void>;
}

export async function startRawUpstream(behave: Behaviour): Promise<RawUpstream> {
  const received: RawExchange[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let unread = Buffer.alloc(0);
    let onConnection = 0;
    socket.on("data", (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let request = takeRequest(unread); request !== undefined; request = takeRequest(unread)) {
        unread = request.rest;
        onConnection += 1;
        const { head, body } = request;
        const number = received.length + 1;
        const exchange = { socket, head, body, number, numberOnConnection: onConnection };
        received.push(exchange);
        behave(exchange);
      }
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, upstreamHost, resolve));
  return {
    url: `http://127.0.0.1:${port}/v1`,
    received,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A complete HTTP response with its length. */
export function httpResponse(
  status: number,
  body: unknown,
  headers: Record<string, string | number> = {},
): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const lines = { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${head.join("")}\r\n${text}`;
}

export const goodResponse = httpResponse(200, completion("The door is open."));

function takeRequest(bytes: Buffer): { head: string; body: string; rest: Buffer<ArrayBuffer> } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.subarray(0, headEnd).toString("latin1");
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const bodyStart = headEnd + 4;
  if (bytes.length < bodyStart + length) return undefined;
  const body = bytes.subarray(bodyStart, bodyStart + length).toString();
  return { head, body, rest: Buffer.from(bytes.subarray(bodyStart + length)) };
}
