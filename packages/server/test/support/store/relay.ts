import { connect, createServer, type Socket } from "node:net";

/** A TCP relay that a test can silence, as if a firewall dropped every packet. */
export interface Relay {
  port: number;
  /** From now on no bytes pass; connections stay open, and new ones are accepted. */
  silence(): void;
  /** From now on a client that sends one of these texts gets no more responses, but its requests pass. */
  holdAnswersTo(...texts: string[]): void;
  /** Everything passes again, including what was held back. */
  resume(): void;
  stop(): Promise<void>;
}

export async function startRelay(targetPort: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  let withoutAnswer: string[] = [];
  const keep = (socket: Socket) => {
    sockets.add(socket);
    if (isSilent) socket.pause();
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
  };
  const server = createServer((caller) => {
    const target = connect(targetPort, "127.0.0.1");
    keep(caller);
    keep(target);
    caller.on("data", (bytes) => {
      if (!withoutAnswer.some((text) => bytes.includes(text))) return;
      target.unpipe(caller);
      target.pause();
    });
    caller.pipe(target).pipe(caller);
    if (isSilent) caller.pause();
    caller.on("close", () => target.destroy());
    target.on("close", () => caller.destroy());
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return {
    port,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    holdAnswersTo(...texts) {
      withoutAnswer = texts;
    },
    resume() {
      withoutAnswer = [];
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
