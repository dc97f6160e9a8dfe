import { ServiceError } from "../errors.ts";
import { readBodyWithin } from "../read-body-within.ts";
import { parseJson } from "./parse-json.ts";
import { ValidationFailure } from "./validation.ts";

/** Deeper than any real request; below the depth at which writing JSON overflows the stack. */
const maxDepth = 256;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a request's body as JSON, whatever content type it claims. Of a key that is there twice the last one counts. */
export async function readJsonBody(request: Request, maxBodyBytes: number): Promise<unknown> {
  const bytes = await readBodyWithin(request, maxBodyBytes);
  if (bytes === undefined) {
    throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
  }
  if (bytes.length === 0) throw missingBody();
  const value = parse(decode(bytes));
  if (value === null) throw missingBody();
  if (isDeeperThan(maxDepth, value)) throw invalidJson(`nested deeper than ${maxDepth} levels`);
  return value;
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

function isDeeperThan(limit: number, root: unknown): boolean {
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

function missingBody(): ValidationFailure {
  return new ValidationFailure([{ type: "missing", loc: ["body"], msg: "Field required", input: null }]);
}

function invalidJson(reason: string): ValidationFailure {
  return new ValidationFailure([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}
