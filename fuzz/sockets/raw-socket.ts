import { connect, type Socket } from "node:net";

/** What a server says on a WebSocket. `cut`: it ended the connection without a word. */
export type Said =
  | { kind: "text"; text: string }
  | { kind: "closed"; code: number }
  | { kind: "cut" }
  | { kind: "silent" };

/** A WebSocket on which any bytes can be sent: clients refuse to send most of what a fuzzer has to. */
export interface RawSocket {
  write(bytes: Buffer): void;
  /** What the server says next. */
  next(): Promise<Said>;
  destroy(): void;
}

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Opens a WebSocket; undefined if the server refuses it. */
export async function openRawSocket(
  url: string,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<RawSocket | undefined> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let isOver = false;
  let wake = () => {};
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isOver = true;
    wake();
  });

  /** Waits until `read` finds something, the connection ends, or it takes too long. */
  async function readUntil<Value>(read: () => Value | undefined): Promise<Value | "cut" | "silent"> {
    const isLate = Bun.sleep(timeoutMs).then(() => "silent" as const);
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = read();
      if (found !== undefined) return found;
      if (isOver) return "cut";
      if ((await Promise.race([woken, isLate])) === "silent") return "silent";
    }
  }

  const lines = Object.entries({
    host,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const head = await readUntil(() => {
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const text = received.subarray(0, end).toString("latin1");
    received = received.subarray(end + 4);
    return text;
  });
  if (!head.startsWith("HTTP/1.1 101")) {
    socket.destroy();
    return undefined;
  }
  return {
    write: (bytes) => void socket.write(bytes),
    destroy: () => void socket.destroy(),
    async next() {
      const said = await readUntil(() => {
        const { frame, rest } = readFrame(received, socket);
        received = rest;
        return frame;
      });
      return said === "cut" || said === "silent" ? { kind: said } : said;
    },
  };
}

/** Takes the first whole frame off `bytes` that says something, and answers pings before it. */
function readFrame(bytes: Buffer, socket: Socket): { frame: Said | undefined; rest: Buffer } {
  const none = { frame: undefined, rest: bytes };
  if (bytes.length < 2) return none;
  const opcode = bytes.readUInt8(0) & 0x0f;
  const short = bytes.readUInt8(1) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return none;
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + length) return none;
  const payload = bytes.subarray(start, start + length);
  const rest = bytes.subarray(start + length);
  if (opcode === opcodes.close)
    return { frame: { kind: "closed", code: length < 2 ? 1005 : payload.readUInt16BE(0) }, rest };
  if (opcode === opcodes.text) return { frame: { kind: "text", text: payload.toString() }, rest };
  if (opcode === opcodes.ping) socket.write(frameOf(payload, { opcode: opcodes.pong }));
  return readFrame(rest, socket);
}

/** A frame of a client. Its mask is zero. */
export function frameOf(
  payload: Buffer,
  { opcode = opcodes.text, flags = 0x80 }: { opcode?: number; flags?: number } = {},
): Buffer {
  const size = payload.length;
  const length = size < 126 ? Buffer.alloc(1) : size < 65_536 ? Buffer.alloc(3) : Buffer.alloc(9);
  if (size < 126) length.writeUInt8(0x80 | size);
  else if (size < 65_536) {
    length.writeUInt8(0x80 | 126);
    length.writeUInt16BE(size, 1);
  } else {
    length.writeUInt8(0x80 | 127);
    length.writeBigUInt64BE(BigInt(size), 1);
  }
  return Buffer.concat([Buffer.from([flags | opcode]), length, Buffer.alloc(4), payload]);
}
