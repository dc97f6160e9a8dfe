import { isContainer, type Json } from "./read-json.ts";

/** Whether Python's `==` holds between two values that it read from JSON: true is 1, and 1 is 1.0. */
export function isEqualInPython(one: Json, other: Json): boolean {
  if (isContainer(one) && isContainer(other)) return isSameContainer(one, other, isSameItem);
  const [left, right] = [toNumber(one), toNumber(other)];
  // Exact, also between an integer with all its digits and a number such as 1e17.
  if (left !== undefined && right !== undefined) return left <= right && left >= right;
  return one === other;
}

/** Inside lists and objects Python takes its one NaN for equal to itself, which it is not by itself. */
function isSameItem(one: Json, other: Json): boolean {
  return isEqualInPython(one, other) || (Number.isNaN(one) && Number.isNaN(other));
}

/** Whether Python's `json.dumps` with sorted keys writes two values alike: true, 1 and 1.0 are three texts. */
export function isWrittenAlike(one: Json, other: Json): boolean {
  return isContainer(one) && isContainer(other)
    ? isSameContainer(one, other, isWrittenAlike)
    : Object.is(one, other);
}

/** Whether two lists, or two objects, have the same places with the same values. */
function isSameContainer(
  one: Json & object,
  other: Json & object,
  isSame: (one: Json, other: Json) => boolean,
): boolean {
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => isSame(value, other[index] ?? null))
    );
  }
  const entries = Object.entries(one);
  return (
    entries.length === Object.keys(other).length &&
    entries.every(([key, value]) => Object.hasOwn(other, key) && isSame(value, other[key] ?? null))
  );
}

/** In Python a truth value is a number too. */
export function toNumber(value: Json): number | bigint | undefined {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}
