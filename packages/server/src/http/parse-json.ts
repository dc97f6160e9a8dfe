/** Deeper than any real request; below the depth at which writing JSON overflows the stack. */
const maxDepth = 256;

/**
 * Parses JSON so that an integer beyond a double's exact range, a seed for example, is written again digit for digit.
 * Throws a `SyntaxError` for what is no JSON and for what is nested too deeply to be written again.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(maxDepth, value)) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  return hasLongInteger(value) ? JSON.parse(text, keepLongInteger) : value;
}

function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return limit === 0 || Object.values(value).some((part) => isDeeperThan(limit - 1, part));
}

function hasLongInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasLongInteger);
}

/** `JSON.rawJSON` and the reviver's source text are in the runtime, not yet in TypeScript's library. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? rawJson(source) : value;
}
