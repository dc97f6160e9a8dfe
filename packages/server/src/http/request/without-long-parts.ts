import type { ValidationError } from "@presage/contract";
import { isLongerThan } from "./is-longer-than.ts";

/** A hundred faults may each tell what was sent, and that may be the whole of a long body. */
const maxInputCharacters = 2_000;
const maxKeyCharacters = 200;

/** A fault without its input if that is long, and with long keys cut. */
export function withoutLongParts({ input, ...fault }: ValidationError): ValidationError {
  const loc = fault.loc.map((part) => (typeof part === "string" ? cutKey(part) : part));
  const isTold = input !== undefined && !isLongerThan(input, maxInputCharacters);
  return { ...fault, loc, ...(isTold ? { input } : {}) };
}

function cutKey(key: string): string {
  return key.length <= maxKeyCharacters ? key : `${key.slice(0, maxKeyCharacters).toWellFormed()}…`;
}
