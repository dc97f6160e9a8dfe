import type { Socket } from "bun";

interface Side {
  other: Socket<Side> | undefined;
  waiting: Uint8Array[];
  isServer: boolean;
}

export interface Relay {
  readonly origin: string;
  /** The number of connections that were cut. */
  cuts(): number;
  stop(): void;
}

const taskEvent = "event: task_id";

/**
 * Forwards connections in turn to the first of these ports that accepts. Cuts up to `maxCuts` of them: every other one that tells
 * a client the id of its task.
 */
export const startRelay = (ports: readonly number[], maxCuts: number): Relay => {
  let cuts = 0;
  let seen = 0;
  let turn = 0;

  const handlers = {
    data(socket: Socket<Side>, data: Uint8Array) {
      const { other, isServer, waiting } = socket.data;
      const bytes = new Uint8Array(data);
      if (other === undefined) {
        waiting.push(bytes);
        return;
      }
      send(other, bytes);
      if (!isServer || cuts >= maxCuts || !Buffer.from(bytes).includes(taskEvent)) return;
      seen += 1;
      if (seen % 2 === 0) return;
      cuts += 1;
      // The client has the id by then, and the server may be at any point of its work.
      setTimeout(() => {
        other.end();
        socket.terminate();
      }, Math.random() * 30);
    },
    drain: flush,
    close(socket: Socket<Side>) {
      socket.data.other?.end();
    },
    error() {},
  };

  const connect = async (client: Socket<Side>): Promise<void> => {
    for (let attempt = 0; attempt < ports.length; attempt += 1) {
      turn += 1;
      const port = ports[turn % ports.length] ?? 0;
      const data: Side = { other: client, waiting: [], isServer: true };
      const server = await Bun.connect<Side>({ hostname: "127.0.0.1", port, data, socket: handlers }).catch(
        () => undefined,
      );
      if (server === undefined) continue;
      const { waiting } = client.data;
      client.data = { other: server, waiting: [], isServer: false };
      for (const bytes of waiting) send(server, bytes);
      return;
    }
    client.end();
  };

  const listener = Bun.listen<Side>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      ...handlers,
      open(client) {
        client.data = { other: undefined, waiting: [], isServer: false };
        void connect(client);
      },
    },
  });
  return {
    origin: `http://127.0.0.1:${listener.port}`,
    cuts: () => cuts,
    stop: () => listener.stop(true),
  };
};

const send = (socket: Socket<Side>, bytes: Uint8Array): void => {
  const { waiting } = socket.data;
  if (waiting.length > 0) {
    waiting.push(bytes);
    return;
  }
  const sent = socket.write(bytes);
  if (sent < bytes.length) waiting.push(bytes.subarray(sent));
};

const flush = (socket: Socket<Side>): void => {
  const { waiting } = socket.data;
  while (waiting.length > 0) {
    const [first = new Uint8Array()] = waiting;
    const sent = socket.write(first);
    if (sent < first.length) {
      waiting[0] = first.subarray(sent);
      return;
    }
    waiting.shift();
  }
};
