import { createHash, randomBytes } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectWithTls } from "node:tls";
import { orAborted } from "../../platform/limits/deadline.ts";
import { faultOfStatus, maxMessageBytes, toText } from "./http-client.ts";
import { RealEnvironmentError, tooLarge, unlikeProtocol, unreachable } from "./real-environment.ts";

const maxHeadBytes = 16 * 1024;
/** Of one message; servers send few. */
const maxParts = 4_096;
/** Pings are not answered while as much waits for the other side. */
const maxUnsentBytes = 64 * 1024;
const opcode = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;
type Opcode = (typeof opcode)[keyof typeof opcode];

/** A WebSocket on which each message has one answer. */
export interface AskingSocket {
  ask(message: string, signal: AbortSignal): Promise<string>;
  /** Says a last word, and waits for the other side to close it. */
  close(message: string, signal: AbortSignal): Promise<void>;
  abort(): void;
}

/** Opens a WebSocket. Bun's own takes whole messages of up to 128 MB. */
export async function openWebSocket(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<AskingSocket> {
  const { socket, accepted } = dial(new URL(url), headers);
  const take = taking(socket);
  let answer = Promise.withResolvers<string>();
  let isAwaited = true;
  let hasAsked = false;
  let failure: RealEnvironmentError | undefined;

  function fail(error: unknown): void {
    failure ??= error instanceof RealEnvironmentError ? error : unreachable();
    socket.destroy();
    answer.promise.catch(() => {});
    answer.reject(failure);
  }

  async function listen(): Promise<never> {
    for (;;) {
      const text = toText(await readMessage(socket, take));
      // One that nobody asked for would be taken for the answer to what comes next.
      if (!isAwaited) throw unlikeProtocol();
      isAwaited = false;
      answer.resolve(text);
    }
  }

  async function orFail<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    try {
      return await orAborted(work, signal);
    } catch (error) {
      fail(error);
      throw signal.aborted ? error : failure;
    }
  }

  await orFail(readHead(take, accepted), signal);
  const listening = listen().catch(fail);
  return {
    async ask(message, signal) {
      // A server without room says so before it is asked.
      if (hasAsked) {
        if (failure !== undefined) throw failure;
        answer = Promise.withResolvers();
        isAwaited = true;
      }
      hasAsked = true;
      send(socket, opcode.text, message);
      return await orFail(answer.promise, signal);
    },
    async close(message, signal) {
      send(socket, opcode.text, message);
      await orFail(listening, signal);
    },
    abort: () => fail(unreachable()),
  };
}

/** A connection on which a WebSocket is asked for, and what accepts it. */
function dial({ protocol, hostname, host, port, pathname }: URL, headers: Record<string, string>) {
  const name = hostname.replace(/^\[|\]$/g, "");
  const isSecure = protocol === "https:";
  const address = { host: name, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure
    ? connectWithTls({ ...address, ...(isIP(name) === 0 && { servername: name }) })
    : connect(address);
  socket.on("error", () => {});
  const key = randomBytes(16).toString("base64");
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const fields = Object.entries({ host, ...upgrade, "sec-websocket-key": key, ...headers });
  const lines = fields.map(([field, value]) => `${field}: ${value}\r\n`);
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const accepted = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return { socket, accepted };
}

type Take = (bytes: number) => Promise<Buffer>;

/** Reads a number of bytes from the socket. What is not read stays with the other side. */
function taking(socket: Socket): Take {
  const pieces: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  return async (bytes) => {
    if (held.length < bytes) {
      const parts = [held];
      for (let length = held.length; length < bytes; ) {
        const { value, done } = await pieces.next();
        if (done) throw unreachable();
        parts.push(value);
        length += value.length;
      }
      held = Buffer.concat(parts);
    }
    const taken = held.subarray(0, bytes);
    held = held.subarray(bytes);
    return taken;
  };
}

async function readHead(take: Take, accepted: string): Promise<void> {
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    if (head.length === maxHeadBytes) throw tooLarge();
    head += (await take(1)).toString("latin1");
  }
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 200);
  if (status !== 101) throw faultOfStatus(status) ?? unlikeProtocol();
  if (/^sec-websocket-accept: *(\S+)/im.exec(head)?.[1] !== accepted) throw unlikeProtocol();
}

/** The next message, of any number of frames (RFC 6455). Pings in between are answered. */
async function readMessage(socket: Socket, take: Take): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let hasBegun = false; ; ) {
    const head = await take(2);
    const [first, length] = [head.readUInt8(0), await readLength(head.readUInt8(1), take)];
    bytes += length;
    if (bytes > maxMessageBytes || parts.length > maxParts) throw tooLarge();
    const payload = length === 0 ? undefined : Buffer.from(await take(length));
    const code = first & 0x0f;
    if (code >= opcode.close) {
      bytes -= length;
      if (code === opcode.close) {
        send(socket, opcode.close, "");
        throw unreachable();
      }
      if (code === opcode.ping && socket.writableLength < maxUnsentBytes)
        send(socket, opcode.pong, payload ?? "");
      continue;
    }
    if (code !== (hasBegun ? opcode.continuation : opcode.text) || (first & 0x70) !== 0)
      throw unlikeProtocol();
    hasBegun = true;
    if (payload !== undefined) parts.push(payload);
    if (first >= 0x80) return Buffer.concat(parts);
  }
}

async function readLength(second: number, take: Take): Promise<number> {
  if (second < 126) return second;
  if (second === 126) return (await take(2)).readUInt16BE();
  // Above are those that are masked, as no server does.
  if (second > 127) throw unlikeProtocol();
  return Number((await take(8)).readBigUInt64BE());
}

function send(socket: Socket, code: Opcode, text: string | Buffer): void {
  const payload = Buffer.from(text);
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | code);
  head.writeUInt8(0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127), 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  for (let at = 0; at < length; at += 1) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
  if (socket.writable) socket.write(Buffer.concat([head, mask, payload]));
}
