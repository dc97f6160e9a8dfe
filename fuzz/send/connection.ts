import { connect, type Socket } from "node:net";
import { type RawResponse, readResponse } from "./read-response.ts";

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
