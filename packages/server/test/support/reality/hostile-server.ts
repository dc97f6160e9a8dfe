import { createHash } from "node:crypto";
import type { Socket } from "bun";

type Raw = Socket<{ text: string; flood: Buffer | undefined }>;

/** A server that sends arbitrary bytes and respects no protocol. */
export interface HostileServer {
  url: string;
  /** Handles everything that a connection has sent so far. */
  answer: (socket: Raw, said: string) => void;
  connections: number;
  sentBytes: number;
  stop(): void;
}

export function startHostileServer(): HostileServer {
  const server: HostileServer = {
    url: "",
    answer() {},
    connections: 0,
    sentBytes: 0,
    stop: () => listener.stop(true),
  };
  const pour = (socket: Raw) => {
    const { flood } = socket.data;
    while (flood !== undefined) {
      const taken = socket.write(flood);
      server.sentBytes += Math.max(0, taken);
      if (taken < flood.length) return;
    }
  };
  const listener = Bun.listen<Raw["data"]>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        server.connections += 1;
        socket.data = { text: "", flood: undefined };
      },
      data(socket, bytes) {
        socket.data.text += bytes.toString("latin1");
        server.answer(socket, socket.data.text);
        pour(socket);
      },
      drain: pour,
      error() {},
    },
  });
  server.url = `http://127.0.0.1:${listener.port}`;
  return server;
}

/** Sends these bytes again and again. */
export function flood(socket: Raw, bytes: string): void {
  socket.data.flood = Buffer.from(bytes.repeat(Math.ceil(65_536 / bytes.length)));
}

export function sendHttp(socket: Raw, status: number, body = "", headers = ""): void {
  socket.write(
    `HTTP/1.1 ${status} Any\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`,
  );
}

/** Accepts a WebSocket on its first message; returns whether this was the first. */
export function acceptWebSocket(socket: Raw, said: string): boolean {
  const key = /sec-websocket-key: (\S+)\r\n[\s\S]*\r\n\r\n$/i.exec(said)?.[1];
  if (key === undefined) return false;
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  return true;
}

/** A frame as a server sends it; `length` is the length that it claims. */
export function frameOf(
  payload: string | Buffer,
  { first = 0x81, length = Buffer.byteLength(payload) } = {},
): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : 10);
  head.writeUInt8(first);
  head.writeUInt8(length < 126 ? length : 127, 1);
  if (length >= 126) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.from(payload)]);
}
