import { CallerGoneError, ServiceError } from "../errors.ts";
import { readBodyWithin } from "../read-body-within.ts";
import { parseJson } from "./parse-json.ts";
import { ValidationFailure } from "./validation.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request's body as JSON, whatever content type it claims. No body and a null are undefined. Of a key that is
 * there twice the last one counts.
 */
export async function readJsonBody(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
): Promise<unknown> {
  const bytes = await readBodyWithin(request, maxBodyBytes, onLength).catch((error: unknown) => {
    if (error instanceof ServiceError) throw error;
    // A body fails to arrive only with its connection.
    throw new CallerGoneError();
  });
  if (bytes === undefined) {
    throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
  }
  return bytes.length === 0 ? undefined : (parse(decode(bytes)) ?? undefined);
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("the body is not UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "not JSON");
  }
}

function invalidJson(reason: string): ValidationFailure {
  return new ValidationFailure([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}
