import { setImmediate as nextTurn } from "node:timers/promises";
import { CallerGoneError, ServiceError } from "../errors.ts";
import { readBodyWithin } from "../read-body-within.ts";
import { type JsonReading, readJson } from "./parse-json.ts";
import { scanJson } from "./scan-json.ts";
import { ValidationFailure } from "./validation.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Whatever is in a shorter body, it is read within milliseconds. */
const shortBodyBytes = 64 * 1024;
/** Other requests have their turn between the steps of reading a longer one, each of which may take a tenth of a second. */
const longBodyBytes = 512 * 1024;

/**
 * Reads a request's body as JSON, whatever content type it claims. No body and a null are undefined. Of a key that is
 * there twice the last one counts.
 */
export async function readJsonBody(request: Request, maxBodyBytes: number): Promise<JsonReading> {
  const bytes = await readBodyWithin(request, maxBodyBytes).catch(() => {
    // A body fails to arrive only with its connection.
    throw new CallerGoneError();
  });
  if (bytes === undefined) {
    throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
  }
  if (bytes.length === 0) return nothing;
  const mayHaveLongNumber = bytes.length > shortBodyBytes ? scan(bytes) : undefined;
  const isLong = bytes.length > longBodyBytes;
  if (isLong) await nextTurn();
  const reading = parse(decode(bytes), mayHaveLongNumber);
  if (isLong) await nextTurn();
  return reading.plain === null ? nothing : reading;
}

const nothing: JsonReading = { plain: undefined, exact: undefined };

/** Refuses what would take too long or too much memory to parse, and says whether there may be long numbers. */
function scan(bytes: Uint8Array): boolean {
  const { fault, mayHaveLongNumber } = scanJson(bytes);
  if (fault === undefined) return mayHaveLongNumber;
  if (fault.isTooDeep) throw invalidJson(fault.reason);
  const { reason } = fault;
  throw new ValidationFailure([
    { type: "value_error", loc: ["body"], msg: `Value error, ${reason}`, ctx: { error: reason } },
  ]);
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("the body is not UTF-8");
  }
}

function parse(text: string, mayHaveLongNumber: boolean | undefined): JsonReading {
  try {
    return readJson(text, mayHaveLongNumber);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "not JSON");
  }
}

function invalidJson(reason: string): ValidationFailure {
  return new ValidationFailure([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}
