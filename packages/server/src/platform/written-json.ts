import { parseNumbers, rawJson } from "./json.ts";

/** The original text of numbers that a double would be written differently from, by the object or list that contains them. */
const written = new WeakMap<object, Map<string, string>>();

/** Whether a text may have such a number: with many digits, trailing zeros or an exponent. */
const mayDiffer = /(?:^|[:,[])\s*-?(?:(?:\d\.?){16}|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE]|0\.0{6})/;

/** Parses JSON so that its numbers can be written again digit for digit: a 19-digit id, `1.0`. The values are doubles. */
export function parseAsWritten(text: string): unknown {
  return mayDiffer.test(text) ? parseNumbers(text, keepNumber) : JSON.parse(text);
}

function keepNumber(value: number, source: string, holder: object, key: string): number {
  if (source === String(value)) return value;
  const numbers = written.get(holder) ?? new Map<string, string>();
  written.set(holder, numbers.set(key, source));
  return value;
}

/** The original text of a number in an object or a list. */
export function numberText(value: number, holder: object, name: string): string {
  return written.get(holder)?.get(name) ?? JSON.stringify(value);
}

/** The copy, whose numbers are written as in the original. */
function withNumbersOf<Copy extends object>(original: object, copy: Copy): Copy {
  const numbers = written.get(original);
  if (numbers !== undefined) written.set(copy, numbers);
  return copy;
}

/**
 * A value with leaves and field names replaced; the very same value if none changes. `leafOf` also gets the name of the field that
 * contains the leaf or the list that it is in.
 */
export function mapJson(
  value: unknown,
  leafOf: (leaf: unknown, field: string) => unknown,
  nameOf: (name: string) => string,
  field = "",
): unknown {
  if (typeof value !== "object" || value === null) return leafOf(value, field);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapJson(item, leafOf, nameOf, field));
    return items.some((item, index) => item !== value[index]) ? withNumbersOf(value, items) : value;
  }
  let isSame = true;
  const fields = Object.entries(value).map(([name, before]) => {
    const changed = [nameOf(name), mapJson(before, leafOf, nameOf, name)] as const;
    isSame &&= changed[0] === name && changed[1] === before;
    return changed;
  });
  return isSame ? value : withNumbersOf(value, Object.fromEntries(fields));
}

/** JSON with numbers as they were originally written. */
export function jsonAsWritten(value: unknown): string {
  return JSON.stringify(value, hasNumbers(value) ? writeNumber : undefined);
}

function hasNumbers(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (written.has(value)) return true;
  for (const key in value) if (hasNumbers((value as Record<string, unknown>)[key])) return true;
  return false;
}

function writeNumber(this: object, key: string, value: unknown): unknown {
  return typeof value === "number" ? rawJson(numberText(value, this, key)) : value;
}
