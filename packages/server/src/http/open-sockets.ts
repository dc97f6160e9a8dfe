import { ServiceError } from "../platform/errors.ts";
import { createInFlight } from "../platform/limits/admission.ts";

/** Each holds a connection and a few kilobytes. */
const maxSockets = 16_384;
/** Sockets may stay open for days, so what is left for others cannot wait until one account closes some. */
const shareOfAccount = 3 / 4;

/** A socket that can be told to stop. */
export interface StoppableSocket {
  /** Closes the socket once the message that it is answering is answered. */
  stop(): void;
  /** Gives up the message that it is answering, says so, and closes. */
  abort(): void;
}

/** The WebSockets of this process. Accounts share their number, and none may have all of them. */
export interface OpenSockets {
  /** Adds a socket of an account, or throws a `ServiceError` that says who has too many. Returns a function that removes it. */
  add(accountId: string, socket: StoppableSocket): () => void;
  count(): number;
  /** Stops all sockets, for good. */
  stop(): void;
  /** Aborts the sockets that are still open. Returns how many that are. */
  abort(): number;
}

export function createOpenSockets(max = maxSockets): OpenSockets {
  const sockets = new Set<StoppableSocket>();
  const maxEach = Math.ceil(max * shareOfAccount);
  const places = createInFlight({ max, maxEach, what: "socket" });
  let isStopping = false;

  function enter(accountId: string): void {
    try {
      places.enter(accountId);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code } = error;
      const message =
        code === "rate_limited"
          ? `This account has ${maxEach} sockets open, the most that one may have. Close those whose episodes are over.`
          : "All accounts together have too many sockets open. Try again later.";
      throw new ServiceError(code, message);
    }
  }

  return {
    add(accountId, socket) {
      enter(accountId);
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
