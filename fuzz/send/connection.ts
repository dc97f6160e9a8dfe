import { connect, type Socket } from "node:net";
import { type Answer, readAnswer } from "./read-response.ts";

/** What came of a request. */
export type Outcome = { kind: "answer"; answer: Answer } | { kind: "closed" } | { kind: "silent" };

export interface Connection {
  /** Sends a request, over a new connection if the last one is closed, and waits for its answer. */
  send(bytes: Buffer, method: string): Promise<Outcome>;
  close(): void;
}

/** A kept connection that sends whatever bytes it is given: HTTP clients refuse to send what a fuzz is about. */
export function openConnection(url: string, patienceMs: number): Connection {
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
        const read = readAnswer(Buffer.concat(chunks), method, isClosed);
        if (read === undefined) {
          if (isClosed) finish({ kind: "closed" }, false);
          return;
        }
        const { answer, rest } = read;
        const isReusable = !isClosed && rest.length === 0 && answer.headers.get("connection") !== "close";
        finish({ kind: "answer", answer }, isReusable);
      };
      const timer = setTimeout(() => finish({ kind: "silent" }, false), patienceMs);
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
      // A kept connection may be closed at any time, which says nothing about the request: once more, on a new one.
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
