import { maxDepth } from "./scan-json.ts";

/** Parsed JSON. Both are the same value unless it has numbers that a double cannot represent. */
export interface JsonReading {
  /** With every number as a double, for code that checks types of values. */
  plain: unknown;
  /** With the digits of long integers, in objects that only `JSON.stringify` understands; to be forwarded or stored. */
  exact: unknown;
}

/**
 * Parses JSON so that an integer beyond a double's exact range, such as a seed, is written again digit for digit.
 * Throws a `SyntaxError` for invalid JSON and for JSON that is nested too deeply to be written again.
 */
export function parseJson(text: string): unknown {
  return readJson(text).exact;
}

/** Like `parseJson`, with both readings. */
export function readJson(text: string): JsonReading {
  const plain: unknown = JSON.parse(text);
  return { plain, exact: hasLongNumber(plain, 0) ? parseExactly(text) : plain };
}

/** Like `parseJson`, for a text whose depth has been checked. It takes ten times as long as `JSON.parse`. */
export function parseExactly(text: string): unknown {
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
