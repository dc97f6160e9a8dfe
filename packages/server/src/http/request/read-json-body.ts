import { setImmediate as nextTurn } from "node:timers/promises";
import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { readBodyWithin } from "../../limits/read-body-within.ts";
import { type JsonReading, parseExactly, readJson } from "./parse-json.ts";
import { scanJson } from "./scan-json.ts";
import { ValidationFailure } from "./validation.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Whatever is in such a body, it is read within milliseconds. */
const shortBodyBytes = 64 * 1024;
/** Each step of reading a longer one may take a tenth of a second: other requests have their turn between them. */
const longBodyBytes = 512 * 1024;

/**
 * Reads a request's body as JSON, whatever content type it claims. No body and a null are undefined. Of a key that is
 * there twice the last one counts.
 */
export async function readJsonBody(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
): Promise<JsonReading> {
  const bytes = await readBodyWithin(request, maxBodyBytes, onLength).catch((error: unknown) => {
    if (error instanceof ServiceError) throw error;
    // A body fails to arrive only with its connection.
    throw new ClientDisconnectedError();
  });
  if (bytes === undefined) {
    throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
  }
  if (bytes.length === 0) return nothing;
  const reading = bytes.length > shortBodyBytes ? await parseInTurns(bytes) : parse(bytes, readJson);
  return reading.plain === null ? nothing : reading;
}

const nothing: JsonReading = { plain: undefined, exact: undefined };

/** Refuses what would take too much time or memory before it is parsed. */
async function parseInTurns(bytes: Uint8Array): Promise<JsonReading> {
  const { fault, mayHaveLongNumber } = scanJson(bytes);
  if (fault !== undefined) throw fault.isTooDeep ? invalidJson(fault.reason) : tooMuch(fault.reason);
  const isLong = bytes.length > longBodyBytes;
  if (isLong) await nextTurn();
  const plain = parse(bytes, JSON.parse);
  if (isLong) await nextTurn();
  if (!mayHaveLongNumber) return { plain, exact: plain };
  const exact = parse(bytes, parseExactly);
  if (isLong) await nextTurn();
  return { plain, exact };
}

function parse<Reading>(bytes: Uint8Array, read: (text: string) => Reading): Reading {
  const text = decode(bytes);
  try {
    return read(text);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "not JSON");
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("the body is not UTF-8");
  }
}

function invalidJson(reason: string): ValidationFailure {
  return new ValidationFailure([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}

function tooMuch(reason: string): ValidationFailure {
  return new ValidationFailure([
    { type: "value_error", loc: ["body"], msg: `Value error, ${reason}`, ctx: { error: reason } },
  ]);
}
