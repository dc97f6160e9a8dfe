import { maxDepth } from "./scan-json.ts";

/** JSON, read. Both are one and the same value unless there are numbers in it that a double does not hold. */
export interface JsonReading {
  /** With every number as a double, for whatever looks at the types of values. */
  plain: unknown;
  /** With the digits of long integers, in objects of their own that only `JSON.stringify` knows; to be sent on or kept. */
  exact: unknown;
}

/**
 * Parses JSON so that an integer beyond a double's exact range, a seed for example, is written again digit for digit.
 * Throws a `SyntaxError` for what is no JSON and for what is nested too deeply to be written again.
 */
export function parseJson(text: string): unknown {
  return readJson(text).exact;
}

/** Like `parseJson`, in both readings. */
export function readJson(text: string): JsonReading {
  const plain: unknown = JSON.parse(text);
  return { plain, exact: hasLongNumber(plain, 0) ? parseExactly(text) : plain };
}

/** Like `parseJson` for a text whose nesting has been looked at already. It takes ten times as long as `JSON.parse`. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, keepLongNumber);
}

/** Goes through the whole value, no deeper than it may be. Plain loops: this is done for every request. */
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

/** What is beyond range is read as infinite. */
function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** `JSON.rawJSON` and the reviver's source text are in the runtime, not yet in TypeScript's library. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || !isInexact(value)) return value;
  const source = context?.source ?? "";
  return !Number.isFinite(value) || /^-?\d+$/.test(source) ? rawJson(source) : value;
}
