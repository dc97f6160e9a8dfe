import type { Draw } from "../generate/draw.ts";
import { drawValueMutation } from "../generate/mutate-value.ts";
import { drawTextMutation } from "../generate/odd-text.ts";
import { writeJson } from "../generate/raw-json.ts";
import { reference } from "../generate/references.ts";
import { frameOf, opcodes } from "./raw-socket.ts";

/** What is sent on a WebSocket, with placeholders for ids of earlier responses. */
export interface OddMessage {
  name: string;
  frames(resolve: (text: string) => string): Buffer;
  /** Whether it is a whole message of RFC 6455, to which there is one answer. */
  isWhole: boolean;
}

const actions = ["look around", "activate lantern", "open door", " ", "x".repeat(1_000), "\u0000", "\ud800"];

/** A message of OpenEnv, mostly with something wrong. */
export function drawMessage(draw: Draw, limits: readonly number[]): OddMessage {
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

/** What no client may send. */
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
