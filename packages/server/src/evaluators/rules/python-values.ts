import { isEqualInPython, toNumber } from "./python-equality.ts";
import { isContainer, type Json } from "./read-json.ts";

/** Python would raise an exception here, by which a published script tells that a prediction has the wrong form. */
export class PythonError extends Error {
  constructor() {
    super("Python raises an exception here");
    this.name = "PythonError";
  }
}

/** What Python goes through in a `for` loop: a list's items, an object's keys, a text's characters. */
export function itemsInPython(value: Json): Json[] {
  if (typeof value === "string") return [...value];
  if (!isContainer(value)) throw new PythonError();
  return Array.isArray(value) ? value : Object.keys(value);
}

/** Python's `key in value`. */
export function isInPython(key: Json, value: Json): boolean {
  if (Array.isArray(value)) return value.some((item) => isEqualInPython(item, key) || Object.is(item, key));
  if (isContainer(value)) return typeof key === "string" && Object.hasOwn(value, key);
  if (typeof value !== "string" || typeof key !== "string") throw new PythonError();
  return value.includes(key);
}

/** Python's `value[key]` for a key that is a text. */
export function fieldInPython(value: Json, key: string): Json {
  if (!isContainer(value) || Array.isArray(value)) throw new PythonError();
  const field = Object.hasOwn(value, key) ? value[key] : undefined;
  if (field === undefined) throw new PythonError();
  return field;
}

/** The same text for all keys that are one key of a Python dictionary: 4, 4.0 and, for 1, true. */
export function keyInPython(value: Json): string {
  if (isContainer(value)) throw new PythonError();
  const number = toNumber(value);
  if (number === undefined) return JSON.stringify(value);
  return String(Number.isInteger(number) ? BigInt(number) : number);
}

/** Whether Python's `sorted` makes the same list of both. */
export function isSortedAlike(one: Json, other: Json): boolean {
  return isEqualInPython(itemsInPython(one).toSorted(compare), itemsInPython(other).toSorted(compare));
}

function compare(one: Json, other: Json): number {
  if (isLess(one, other)) return -1;
  return isLess(other, one) ? 1 : 0;
}

/** Python's `<`, which knows texts, numbers and lists. */
function isLess(one: Json, other: Json): boolean {
  if (typeof one === "string" && typeof other === "string") return one < other;
  const [left, right] = [toNumber(one), toNumber(other)];
  if (left !== undefined && right !== undefined) return left < right;
  if (!Array.isArray(one) || !Array.isArray(other)) throw new PythonError();
  const at = one.findIndex(
    (item, index) => index >= other.length || !isEqualInPython(item, other[index] ?? null),
  );
  if (at < 0) return one.length < other.length;
  return at < other.length && isLess(one[at] ?? null, other[at] ?? null);
}
