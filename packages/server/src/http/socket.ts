/** The longest message that is accepted, as long as a short body over HTTP. Bun closes the socket of a longer one with 1009. */
const maxMessageBytes = 1024 * 1024;
/** Beyond this much that a client has not read, its socket is closed. Only one response is sent before it has to be read. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** A client that neither sends anything nor responds to pings for this long has gone. */
const silenceS = 120;

/** RFC 6455's reasons to close a socket. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  refused: 1008,
  failed: 1011,
  tryAgainLater: 1013,
} as const;

export type Socket = Bun.ServerWebSocket<SocketEvents>;

/** What happens on a WebSocket that a route accepted. */
export interface SocketEvents {
  opened(socket: Socket): void;
  /** A text, or the bytes of a binary message. */
  received(message: string | Buffer): void;
  /** The client has read what was sent. */
  drained(): void;
  closed(): void;
}

/** Hands what happens on each WebSocket to the route that accepted it. */
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
