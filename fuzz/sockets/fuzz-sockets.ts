import { OpenEnvErrorCode } from "@presage/contract";
import { holdsSecret } from "../check/check-response.ts";
import type { Findings } from "../check/findings.ts";
import { createDraw } from "../generate/draw.ts";
import { resolveReferences } from "../generate/references.ts";
import type { Target } from "../target/start-target.ts";
import { drawMessage, type OddMessage } from "./make-message.ts";
import { frameOf, openRawSocket, type RawSocket, type Said } from "./raw-socket.ts";

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
/** For what is wrong with a message, as RFC 6455 has it, and what OpenEnv's own `close` is answered with. */
const codes = new Set([1000, 1002, 1003, 1007, 1008, 1009]);

/** Sends messages of a seed to an environment's WebSocket, and adds what is wrong with the answers. */
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
  // A handful may all be wrong.
  if (observations === 0 && plan.messages >= 50)
    findings.add("openEnv: no message led to an observation", undefined, undefined);
}

/** Some messages, on a new socket whenever one was closed. Returns how many observations there were. */
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
      // Without an episode no step would get far.
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
  // What is not UTF-8 is none of a text, and Bun ends the connection.
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
