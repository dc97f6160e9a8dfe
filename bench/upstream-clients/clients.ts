import { Agent, request } from "node:http";
import type { Socket } from "bun";

/** An HTTP client: sends the body and reads the complete response. */
export interface Client {
  name: string;
  send(url: string, body: string): Promise<string>;
}

const kept = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 64 });
const fresh = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

export const sendByFetch = async (
  url: string,
  body: string,
  options: BunFetchRequestInit = {},
): Promise<string> => {
  const response = await fetch(url, { method: "POST", body, timeout: false, ...options });
  return await response.text();
};

export const sendByAgent = (url: string, body: string, agent: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString()));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

export const clients: readonly Client[] = [
  { name: "fetch, kept-alive connections", send: sendByFetch },
  {
    name: "fetch, a new connection per call",
    send: (url, body) => sendByFetch(url, body, { keepalive: false }),
  },
  { name: "node:http, kept-alive connections", send: (url, body) => sendByAgent(url, body, kept) },
  { name: "node:http, a new connection per call", send: (url, body) => sendByAgent(url, body, fresh) },
];

interface Exchange {
  received: string;
  resolve(body: string): void;
  reject(error: Error): void;
}

/**
 * The least that a client on `Bun.connect` does: it keeps every connection and understands only responses with a length. Its cost is a
 * lower bound of what our own client would cost.
 */
export const createSocketClient = (): ((url: string, body: string) => Promise<string>) => {
  const idle: Socket<Exchange>[] = [];

  const onData = (socket: Socket<Exchange>, bytes: Buffer): void => {
    const exchange = socket.data;
    exchange.received += bytes.toString("latin1");
    const bodyAt = exchange.received.indexOf("\r\n\r\n") + 4;
    if (bodyAt < 4) return;
    const length = Number(/^content-length: (\d+)/im.exec(exchange.received)?.[1]);
    if (exchange.received.length < bodyAt + length) return;
    idle.push(socket);
    exchange.resolve(exchange.received.slice(bodyAt));
  };

  return (url, body) =>
    new Promise((resolve, reject) => {
      const { hostname, port, pathname, host } = new URL(url);
      const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n`;
      const exchange = { received: "", resolve, reject };
      const send = (socket: Socket<Exchange>) => {
        socket.data = exchange;
        socket.write(head + body);
      };
      const kept = idle.pop();
      if (kept !== undefined) return send(kept);
      Bun.connect<Exchange>({
        hostname,
        port: Number(port),
        data: exchange,
        socket: {
          open: send,
          data: onData,
          error: (socket, error) => socket.data.reject(error),
        },
      }).catch(reject);
    });
};

const usualConcurrency = 32;
/** A body as large as a prediction's. */
const body = JSON.stringify({ model: "mock", messages: [{ role: "user", content: "x".repeat(1_900) }] });

/** This process's processor time per call in microseconds, with an upstream that responds at once. */
export const measureCost = async (
  { send }: Client,
  url: string,
  calls: number,
  concurrency = usualConcurrency,
): Promise<number> => {
  const before = process.cpuUsage();
  let left = calls;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await send(url, body);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};
