import { setImmediate as nextTurn } from "node:timers/promises";
import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import { maxDepth, scanJson } from "../platform/limits/scan-json.ts";
import { valueError } from "./pydantic-issues.ts";
import { InvalidRequestError } from "./validate.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** A body up to this length is read within milliseconds, whatever it contains. */
const shortBodyBytes = 64 * 1024;
/** Each step of reading a longer body may take a tenth of a second, so other requests are served between them. */
const longBodyBytes = 512 * 1024;

/** Waits until a long body may be read, and resolves with the function that lets the next one be read. */
type TakeTurn = () => Promise<() => void>;

/** Parsed JSON. Both are the same value unless it has numbers that a double cannot represent. */
export interface JsonReading {
  /** With every number as a double, for code that checks types of values. */
  plain: unknown;
  /** With the digits of long integers, in objects that only `JSON.stringify` understands; to be forwarded or stored. */
  exact: unknown;
}

/**
 * Reads a request's body as JSON, whatever its content type. An empty body and null are undefined. If a key is repeated, its last
 * value counts.
 */
export async function readJsonBody(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
  takeTurn?: TakeTurn,
): Promise<JsonReading> {
  return await readJsonInTurn(await readBytes(request, maxBodyBytes, onLength), takeTurn);
}

/** A request's whole body. */
export async function readBytes(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding")?.toLowerCase() || "identity";
  if (encoding !== "identity") {
    const reason = "Input should be identity; only uploads may be compressed";
    throw new InvalidRequestError([valueError(["header", "content-encoding"], reason, encoding)]);
  }
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBodyWithin(request, maxBodyBytes, onLength);
  } catch (error) {
    // Reading a body fails only if the connection does.
    throw error instanceof ServiceError ? error : new ClientDisconnectedError();
  }
  if (bytes !== undefined) return bytes;
  throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
}

/** The JSON of a whole body, for which a long one waits until it may be read. */
export async function readJsonInTurn(bytes: Uint8Array, takeTurn?: TakeTurn): Promise<JsonReading> {
  if (takeTurn === undefined || bytes.length <= longBodyBytes) return await readJsonBytes(bytes);
  const endTurn = await takeTurn();
  try {
    return await readJsonBytes(bytes);
  } finally {
    endTurn();
  }
}

/** The same of bytes that have arrived. */
export async function readJsonBytes(bytes: Uint8Array): Promise<JsonReading> {
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

/**
 * Parses JSON so that an integer beyond a double's exact range, such as a seed, is written again digit for digit.
 * Throws a `SyntaxError` for invalid JSON and for JSON that is nested too deeply to be written again.
 */
export function parseJson(text: string): unknown {
  return readJson(text).exact;
}

/** Like `parseJson`, with both readings. */
function readJson(text: string): JsonReading {
  const plain: unknown = JSON.parse(text);
  return { plain, exact: hasLongNumber(plain, 0) ? parseExactly(text) : plain };
}

/** Like `parseJson`, for a text whose depth has been checked. It takes ten times as long as `JSON.parse`. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, keepLongNumber);
}

/** Checks the depth of the whole value as well. Plain loops, because every request passes here. */
function hasLongNumber(value: unknown, depth: number): boolean {
  if (typeof value === "number") return isInexact(value);
  if (typeof value !== "object" || value === null) return false;
  if (depth === maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  let found = false;
  for (const key in value) {
    if (hasLongNumber((value as Record<string, unknown>)[key], depth + 1)) found = true;
  }
  return found;
}

/** `JSON.parse` reads a number beyond the range of doubles as infinite. */
function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** TypeScript's library does not know `JSON.rawJSON` and the reviver's source text yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || !isInexact(value)) return value;
  const source = context?.source ?? "";
  return !Number.isFinite(value) || /^-?\d+$/.test(source) ? rawJson(source) : value;
}
