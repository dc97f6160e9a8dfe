import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import { createInFlight } from "../platform/limits/admission.ts";
import { itemOfTurn } from "../platform/limits/turns.ts";

/** The longest message that is accepted, as long as a short body over HTTP. Bun closes the socket of a longer one with 1009. */
const maxMessageBytes = 1024 * 1024;
/** A socket is closed once its client has left this much unread. Only one response is sent before it has to be read. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** A client that neither sends anything nor responds to pings for this long is gone. */
const silenceS = 120;

/** RFC 6455's reasons to close a socket. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  refused: 1008,
  failed: 1011,
  tryAgainLater: 1013,
} as const;

type Socket = Bun.ServerWebSocket<SocketEvents>;

/** The events of a WebSocket that a route accepted. */
export interface SocketEvents {
  opened(socket: Socket): void;
  /** A text, or the bytes of a binary message. */
  received(message: string | Buffer): void;
  /** The client has read what was sent. */
  drained(): void;
  closed(): void;
}

/** Passes the events of each WebSocket to the route that accepted it. */
export const socketHandler: Bun.WebSocketHandler<SocketEvents> = {
  maxPayloadLength: maxMessageBytes,
  backpressureLimit: maxUnreadBytes,
  closeOnBackpressureLimit: true,
  idleTimeout: silenceS,
  sendPings: true,
  open: (socket) => socket.data.opened(socket),
  message: (socket, message) => socket.data.received(message),
  drain: (socket) => socket.data.drained(),
  close: (socket) => socket.data.closed(),
};

/** How many messages, and how many characters or bytes, a client may send ahead while a message is being answered. */
const maxWaiting = 64;
const maxWaitingLength = 256 * 1024;

/** What to do after a message. */
export interface Reply {
  text?: string;
  close?: { code: number; reason: string };
  /** Called once the client has read the text, or has gone. */
  onRead?: () => void;
}

export interface AnswerOptions {
  /** Answers a message. The signal is aborted when the client disconnects or the server cannot wait any longer. */
  answer(message: string | Buffer, signal: AbortSignal): Promise<Reply>;
  /** A socket is closed when nothing was sent or answered on it for this long. */
  idleMs: number;
  onOpen?(): Reply | undefined;
  onClose(): void;
}

/**
 * Answers the messages of one socket, one after the other and in their order. The next message is taken only after the client has read
 * the answer to the last one, so a socket holds one message, one answer and a bounded number of waiting messages.
 */
export function answerInOrder({
  answer,
  idleMs,
  onOpen,
  onClose,
}: AnswerOptions): SocketEvents & StoppableSocket {
  let socket: Socket | undefined;
  let waiting: (string | Buffer)[] = [];
  let waitingLength = 0;
  let current: AbortController | undefined;
  let isStopping = false;
  let onDrained: (() => void) | undefined;
  const idle = setTimeout(() => {
    // A client that does not read would not read the reason, either.
    if (onDrained !== undefined) socket?.terminate();
    else close({ code: closeCode.normal, reason: `Nothing happened for ${idleMs / 60_000} minutes.` });
  }, idleMs);

  function close({ code, reason }: { code: number; reason: string }): void {
    socket?.close(code, reason);
  }

  function closeForStop(): void {
    close({ code: closeCode.goingAway, reason: "The server is stopping." });
  }

  async function work(): Promise<void> {
    for (let message = take(); message !== undefined; message = take()) {
      const controller = new AbortController();
      current = controller;
      const turn = itemOfTurn();
      if (turn !== undefined) await turn;
      await finish(await answer(message, controller.signal));
      idle.refresh();
    }
    current = undefined;
    if (isStopping) closeForStop();
  }

  function take(): string | Buffer | undefined {
    if (socket === undefined || isStopping) return undefined;
    const message = waiting.shift();
    waitingLength -= message?.length ?? 0;
    return message;
  }

  async function finish({ text, close: closing, onRead }: Reply): Promise<void> {
    if (text !== undefined) await send(text);
    if (closing !== undefined) close(closing);
    onRead?.();
  }

  /** Returns when the client has read the text, or is gone. */
  async function send(text: string): Promise<void> {
    const sent = socket?.sendText(text);
    if (sent === 0) socket?.terminate();
    if (sent !== -1) return;
    const drained = Promise.withResolvers<void>();
    onDrained = drained.resolve;
    await drained.promise;
    onDrained = undefined;
  }

  return {
    opened(opened) {
      socket = opened;
      const greeting = onOpen?.();
      if (greeting !== undefined) void finish(greeting);
      else if (isStopping) closeForStop();
    },
    received(message) {
      idle.refresh();
      waiting.push(message);
      waitingLength += message.length;
      if (current === undefined) {
        void work();
        return;
      }
      if (waiting.length <= maxWaiting && waitingLength <= maxWaitingLength) return;
      close({ code: closeCode.refused, reason: "Too many messages at once: wait for the answers." });
    },
    drained() {
      onDrained?.();
    },
    closed() {
      socket = undefined;
      waiting = [];
      clearTimeout(idle);
      current?.abort(new ClientDisconnectedError());
      onDrained?.();
      onClose();
    },
    stop() {
      isStopping = true;
      if (current === undefined) closeForStop();
    },
    abort() {
      if (onDrained !== undefined) socket?.terminate();
      current?.abort(new ServiceError("overloaded", "The server is stopping. Connect and try again."));
    },
  };
}

/** Each socket holds a connection and a few kilobytes. */
const maxSockets = 16_384;
/** Sockets may stay open for days, so other accounts cannot wait until one account closes some. */
const shareOfAccount = 3 / 4;

/** A socket that can be told to stop. */
export interface StoppableSocket {
  /** Closes the socket once the message that it is answering is answered. */
  stop(): void;
  /** Gives up the message that it is answering, says so, and closes. */
  abort(): void;
}

/** The WebSockets of this process. Accounts share the limit on their number, and none may use all of it. */
export type OpenSockets = ReturnType<typeof createOpenSockets>;

export function createOpenSockets(max = maxSockets) {
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
    /** Adds a socket of an account, or throws a `ServiceError` that says who has too many. Returns a function that removes it. */
    add(accountId: string, socket: StoppableSocket): () => void {
      enter(accountId);
      sockets.add(socket);
      if (isStopping) socket.stop();
      return () => {
        if (sockets.delete(socket)) places.leave(accountId);
      };
    },
    count: () => sockets.size,
    /** Stops all sockets, including any added later. */
    stop(): void {
      isStopping = true;
      for (const socket of Array.from(sockets)) socket.stop();
    },
    /** Aborts the sockets that are still open. Returns how many there were. */
    abort(): number {
      const left = [...sockets];
      for (const socket of left) socket.abort();
      return left.length;
    },
  };
}
