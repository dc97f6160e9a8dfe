import { createInFlight } from "../../limits/in-flight.ts";

/** Each holds a connection and a few kilobytes. */
const maxSockets = 16_384;

/** A socket that can be told to stop. */
export interface StoppableSocket {
  /** Closes the socket once the message that it is answering is answered. */
  stop(): void;
  /** Gives up the message that it is answering, says so, and closes. */
  abort(): void;
}

/** The WebSockets of this process. Accounts share their number. */
export interface OpenSockets {
  /** Adds a socket of an account, or throws a `ServiceError` if there are too many. Returns a function that removes it. */
  add(accountId: string, socket: StoppableSocket): () => void;
  count(): number;
  /** Stops all sockets, for good. */
  stop(): void;
  /** Aborts the sockets that are still open. Returns how many that are. */
  abort(): number;
}

export function createOpenSockets(max = maxSockets): OpenSockets {
  const sockets = new Set<StoppableSocket>();
  const places = createInFlight({ max, maxEach: max, what: "socket" });
  let isStopping = false;
  return {
    add(accountId, socket) {
      places.enter(accountId);
      sockets.add(socket);
      if (isStopping) socket.stop();
      return () => {
        if (sockets.delete(socket)) places.leave(accountId);
      };
    },
    count: () => sockets.size,
    stop() {
      isStopping = true;
      for (const socket of [...sockets]) socket.stop();
    },
    abort() {
      const left = [...sockets];
      for (const socket of left) socket.abort();
      return left.length;
    },
  };
}
