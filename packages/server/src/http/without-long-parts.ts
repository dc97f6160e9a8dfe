import type { ValidationError } from "@presage/contract";

/** As JSON, more or less. A hundred faults may each tell what was sent, and it may be the whole of a long body. */
const maxInputCharacters = 2_000;
const maxKeyCharacters = 200;

/** A fault without its input if that is long, and with long keys cut. */
export function withoutLongParts({ input, ...fault }: ValidationError): ValidationError {
  const loc = fault.loc.map((part) => (typeof part === "string" ? cutKey(part) : part));
  const isTold = input !== undefined && charactersLeft(input, maxInputCharacters) >= 0;
  return { ...fault, loc, ...(isTold ? { input } : {}) };
}

function cutKey(key: string): string {
  return key.length <= maxKeyCharacters ? key : `${key.slice(0, maxKeyCharacters).toWellFormed()}…`;
}

/** What is left of so many characters once the value is written; below zero, and no sooner known, if it does not fit. */
function charactersLeft(value: unknown, available: number): number {
  if (typeof value === "string") return available - value.length - 2;
  if (typeof value !== "object" || value === null) return available - 5;
  let left = available - 2;
  for (const key in value) {
    left = charactersLeft(Reflect.get(value, key), left - (Array.isArray(value) ? 1 : key.length + 4));
    if (left < 0) break;
  }
  return left;
}
