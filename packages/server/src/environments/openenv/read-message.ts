import { readJsonBytes } from "../../http/read-json.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";

/** A client's message. Its data are not validated yet. */
export type Message =
  | { type: "reset"; data: unknown }
  | { type: "step"; data: unknown; bytes: number }
  | { type: "state" }
  | { type: "close" };

/** A message that OpenEnv does not have, or Presage does not. */
export class UnknownMessageError extends ServiceError {
  constructor(type: unknown) {
    const named = typeof type === "string" ? JSON.stringify(type.slice(0, 100)) : "none";
    super("unsupported", `Unknown message type: ${named}. Send reset, step, state or close.`);
  }
}

/** A message as its frame has it. Throws if it is no JSON object of a known type. */
export async function readMessage(frame: string | Buffer): Promise<Message> {
  if (typeof frame !== "string") throw invalid("json_invalid", "Messages are text, not bytes");
  const bytes = Buffer.from(frame);
  const { plain: message } = await readJsonBytes(bytes);
  if (typeof message !== "object" || message === null || Array.isArray(message))
    throw invalid("model_attributes_type", "A message is a JSON object");
  const { type, data } = message as { type?: unknown; data?: unknown };
  if (type === "reset") return { type, data };
  if (type === "step") return { type, data, bytes: bytes.length };
  if (type === "state" || type === "close") return { type };
  throw new UnknownMessageError(type);
}

function invalid(type: string, msg: string): InvalidRequestError {
  return new InvalidRequestError([{ type, loc: ["body"], msg }]);
}
