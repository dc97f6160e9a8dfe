import { connect, type Socket } from "node:net";
import { OpenEnvErrorCode } from "@presage/contract";
import { holdsSecret } from "./check/check-response.ts";
import type { Findings } from "./check/findings.ts";
import { createDraw, type Draw, reference, resolveReferences, writeJson } from "./generate/draw.ts";
import { drawValueMutation } from "./generate/mutate-value.ts";
import { drawTextMutation } from "./generate/plan.ts";
import type { Target } from "./target/target.ts";

export interface SocketPlan {
  seed: number;
  messages: number;
  limits: readonly number[];
  /** Texts that no answer may contain. */
  secrets: readonly string[];
}

const path = "/v1/environments/sandbox/openenv/ws";
/** Longer than the server's own deadline. */
const timeoutMs = 60_000;
const messagesEach = 8;
const socketsAtOnce = 4;
/** RFC 6455's codes for invalid messages, and the one that answers OpenEnv's own `close`. */
const codes = new Set([1000, 1002, 1003, 1007, 1008, 1009]);

/** Sends a seed's messages to an environment's WebSocket, and adds a finding for each wrong answer. */
export async function fuzzSockets(target: Target, plan: SocketPlan, findings: Findings): Promise<void> {
  let next = 0;
  let observations = 0;
  async function work(): Promise<void> {
    while (next < plan.messages) {
      const from = next;
      next += messagesEach;
      observations += await converse(target, plan, from, findings);
    }
  }
  await Promise.all(Array.from({ length: socketsAtOnce }, work));
  // In a short run, all messages may be invalid.
  if (observations === 0 && plan.messages >= 50)
    findings.add("openEnv: no message led to an observation", undefined, undefined);
}

/** Sends some messages, on a new socket whenever one was closed. Returns the number of observations. */
async function converse(
  { presage, ownerKey, known }: Target,
  { seed, limits, secrets }: SocketPlan,
  from: number,
  findings: Findings,
): Promise<number> {
  let observations = 0;
  let socket: RawSocket | undefined;
  for (let index = from; index < from + messagesEach; index += 1) {
    if (socket === undefined) {
      socket = await openRawSocket(presage.url + path, { "x-api-key": ownerKey }, timeoutMs);
      // Without an episode, every step would be refused.
      socket?.write(frameOf(Buffer.from('{"type":"reset"}')));
      const said = await socket?.next();
      if (said?.kind === "text" && read(said.text).type === "observation") observations += 1;
    }
    if (socket === undefined) {
      findings.add("openEnv: no WebSocket could be opened", `message ${index}`, undefined);
      return observations;
    }
    const message = drawMessage(createDraw(seed, index), limits);
    socket.write(message.frames((text) => resolveReferences(text, known.find)));
    const said = message.isWhole ? await socket.next() : undefined;
    const violation = said === undefined ? undefined : violationOf(message, said, secrets);
    if (violation !== undefined)
      findings.add(`openEnv: ${violation}`, `message ${index}: ${message.name}`, undefined);
    if (said?.kind === "text") {
      if (read(said.text).type === "observation") observations += 1;
      continue;
    }
    socket.destroy();
    socket = undefined;
  }
  socket?.destroy();
  return observations;
}

function violationOf({ name }: OddMessage, said: Said, secrets: readonly string[]): string | undefined {
  if (said.kind === "silent") return "no answer within a minute";
  // Bun ends the connection on a text that is not UTF-8.
  if (said.kind === "cut")
    return name.includes("UTF") || name.includes("short") ? undefined : "cut without a word";
  if (said.kind === "closed") return codes.has(said.code) ? undefined : `closed with ${said.code}`;
  if (holdsSecret(said.text, secrets)) return "a secret in an answer";
  const { type, data } = read(said.text);
  if (typeof data !== "object" || data === null) return "an answer without data";
  const { code, message, observation } = data as Record<string, unknown>;
  if (type === "state") return undefined;
  if (type === "observation") return observation === undefined ? "an observation without any" : undefined;
  if (type !== "error") return "an answer of no type";
  if (!OpenEnvErrorCode.safeParse(code).success) return "an error without a code";
  if (typeof message !== "string" || message === "") return "an error without a message";
  return message.startsWith("Internal server error") ? "an internal error" : undefined;
}

function read(text: string): { type?: unknown; data?: unknown } {
  try {
    return JSON.parse(text) as { type?: unknown; data?: unknown };
  } catch {
    return {};
  }
}

/** What is sent on a WebSocket, with placeholders for ids of earlier responses. */
export interface OddMessage {
  name: string;
  frames(resolve: (text: string) => string): Buffer;
  /** Whether it is a whole message of RFC 6455, to which there is one answer. */
  isWhole: boolean;
}

const actions = ["look around", "activate lantern", "open door", " ", "x".repeat(1_000), "\u0000", "\ud800"];

/** A message of OpenEnv, mostly with something wrong. */
function drawMessage(draw: Draw, limits: readonly number[]): OddMessage {
  const base = drawBase(draw);
  if (draw.chance(0.1)) return drawBadFrame(draw);
  const kind = draw.pick(["as it is", "value", "value", "text", "binary", "fragments"]);
  const mutate = drawValueMutation(draw, limits);
  const mutation = drawTextMutation(draw);
  const value = kind === "value" ? mutate(base) : base;
  const encode = kind === "text" ? mutation.encode : (bytes: Buffer) => bytes;
  return {
    name: `${base.type}, ${kind === "text" ? mutation.name : kind}`,
    isWhole: true,
    frames(resolve) {
      const payload = encode(Buffer.from(resolve(writeJson(value))));
      if (kind === "binary") return frameOf(payload, { opcode: opcodes.binary });
      if (kind !== "fragments") return frameOf(payload);
      const half = Math.ceil(payload.length / 2);
      return Buffer.concat([
        frameOf(payload.subarray(0, half), { flags: 0 }),
        frameOf(Buffer.from("ping"), { opcode: opcodes.ping }),
        frameOf(payload.subarray(half), { opcode: 0 }),
      ]);
    },
  };
}

function drawBase(draw: Draw): { type: string; data?: object } {
  const type = draw.pick(["reset", "reset", "step", "step", "step", "state", "close"]);
  if (type === "step") return { type, data: { message: draw.pick(actions) } };
  if (type !== "reset") return { type };
  const data = {
    ...(draw.chance(0.3) ? { split: draw.pick(["train", "validation", "test"]) } : {}),
    ...(draw.chance(0.3) ? { index: draw.below(20) } : {}),
    ...(draw.chance(0.3) ? { seed: draw.below(1_000) } : {}),
    ...(draw.chance(0.3) ? { episode_id: draw.pick([reference(draw, "episode"), "mine", "\u0000"]) } : {}),
  };
  return { type, data };
}

/** Messages that no client may send. */
function drawBadFrame(draw: Draw): OddMessage {
  const state = Buffer.from('{"type":"state"}');
  const bad: [name: string, bytes: Buffer][] = [
    ["reserved bits", frameOf(state, { flags: 0xf0 })],
    ["an unknown opcode", frameOf(state, { opcode: 3 })],
    ["no mask", Buffer.concat([Buffer.from([0x81, state.length]), state])],
    ["half a frame", frameOf(state).subarray(0, 9)],
    ["half a message", frameOf(state, { flags: 0 })],
    ["the rest of no message", frameOf(state, { opcode: 0 })],
    ["a long ping", frameOf(Buffer.alloc(300), { opcode: opcodes.ping })],
    ["a ping in parts", frameOf(state, { opcode: opcodes.ping, flags: 0 })],
    ["a close with one byte", frameOf(Buffer.from([3]), { opcode: opcodes.close })],
    ["a close with a code that nobody may send", frameOf(Buffer.from([3, 0xee]), { opcode: opcodes.close })],
    ["a close whose reason is not UTF-8", frameOf(Buffer.from([3, 0xe8, 0xff]), { opcode: opcodes.close })],
    ["an endless length", Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(8, 0xff), state])],
    ["no WebSocket at all", Buffer.from("GET / HTTP/1.1\r\nhost: presage\r\n\r\n")],
  ];
  const [name, bytes] = draw.pick(bad);
  return { name, isWhole: false, frames: () => bytes };
}

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

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Opens a WebSocket; undefined if the server refuses it. */
async function openRawSocket(
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
function frameOf(
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
