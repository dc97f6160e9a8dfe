import { connect, createServer, type Socket } from "node:net";

/** A proxy that loses responses. */
export interface FaultyProxy {
  url: string;
  /** Number of forwarded requests. */
  requests: number;
  /** Sets where requests go from now on. */
  target: string;
  /** Loses the next response, and resolves once its first byte arrived: the request has taken effect. */
  loseNextResponse(how: Loss): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The client's connection breaks before the response, after its first half, or when the server is gone; until then the client
 * receives nothing.
 */
export type Loss = "before" | "halfway" | "with the server";

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  let loss: { how: Loss; hasBegun: () => void } | undefined;

  const server = createServer((caller) => {
    const { hostname, port } = new URL(proxy.target);
    const upstream = connect(Number(port), hostname);
    for (const socket of [caller, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          caller.destroy();
          upstream.destroy();
        });
    }
    caller.on("data", (bytes) => {
      if (/^(GET|POST|PATCH|DELETE) /.test(bytes.toString("latin1"))) proxy.requests += 1;
      upstream.write(bytes);
    });
    let isSilent = false;
    upstream.on("data", (bytes) => {
      if (isSilent) return;
      if (loss === undefined) return void caller.write(bytes);
      const { how, hasBegun } = loss;
      loss = undefined;
      isSilent = true;
      hasBegun();
      if (how === "before") caller.destroy();
      if (how === "halfway") {
        caller.write(bytes.slice(0, bytes.length / 2), () => setTimeout(() => caller.destroy(), 20));
      }
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${port}`,
    requests: 0,
    target,
    loseNextResponse: (how) =>
      new Promise((hasBegun) => {
        loss = { how, hasBegun };
      }),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
