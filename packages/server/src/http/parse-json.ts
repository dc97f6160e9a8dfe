/** Digits that a double cannot hold exactly. */
const longNumber = /\d{16}/;

/** Parses JSON so that an integer beyond a double's exact range, a seed for example, is written again digit for digit. */
export function parseJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepLongIntegers) : JSON.parse(text);
}

/** `JSON.rawJSON` and the reviver's source text are in the runtime, not yet in TypeScript's library. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function keepLongIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? rawJson(source) : value;
}
