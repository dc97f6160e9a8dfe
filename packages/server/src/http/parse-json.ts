/** Deeper than any real request; below the depth at which writing JSON overflows the stack. */
const maxDepth = 256;

/**
 * Parses JSON so that an integer beyond a double's exact range, a seed for example, is written again digit for digit.
 * Throws a `SyntaxError` for what is no JSON and for what is nested too deeply to be written again.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongInteger(value, 0) ? JSON.parse(text, keepLongInteger) : value;
}

/** Goes through the whole value, no deeper than it may be. Plain loops: this is done for every request. */
function hasLongInteger(value: unknown, depth: number): boolean {
  // More than 308 digits are read as infinite.
  if (typeof value === "number") {
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  }
  if (typeof value !== "object" || value === null) return false;
  if (depth === maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  let found = false;
  for (const key in value) {
    if (hasLongInteger((value as Record<string, unknown>)[key], depth + 1)) found = true;
  }
  return found;
}

/** `JSON.rawJSON` and the reviver's source text are in the runtime, not yet in TypeScript's library. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? rawJson(source) : value;
}
