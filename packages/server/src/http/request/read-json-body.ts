import { setImmediate as nextTurn } from "node:timers/promises";
import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { readBodyWithin } from "../../limits/read-body-within.ts";
import { type JsonReading, parseExactly, readJson } from "./parse-json.ts";
import { valueError } from "./pydantic-issues.ts";
import { scanJson } from "./scan-json.ts";
import { InvalidRequestError } from "./validate.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** A body up to this length is read within milliseconds, whatever it contains. */
const shortBodyBytes = 64 * 1024;
/** Each step of reading a longer body may take a tenth of a second, so other requests are served between them. */
const longBodyBytes = 512 * 1024;

/**
 * Reads a request's body as JSON, whatever its content type. An empty body and null are undefined. If a key is repeated, its last
 * value counts.
 */
export async function readJsonBody(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
): Promise<JsonReading> {
  const bytes = await readBodyWithin(request, maxBodyBytes, onLength).catch((error: unknown) => {
    if (error instanceof ServiceError) throw error;
    // Reading a body fails only if the connection does.
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

/** Refuses a body that would take too much time or memory, before it is parsed. */
async function parseInTurns(bytes: Uint8Array): Promise<JsonReading> {
  const { refusal, mayHaveLongNumber } = scanJson(bytes);
  if (refusal !== undefined) {
    throw refusal.isTooDeep
      ? invalidJson(refusal.reason)
      : new InvalidRequestError([valueError(["body"], refusal.reason)]);
  }
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

function invalidJson(reason: string): InvalidRequestError {
  return new InvalidRequestError([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}
