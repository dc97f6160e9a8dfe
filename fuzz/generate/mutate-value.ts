import type { Draw } from "./draw.ts";
import { hostileText, hostileValue } from "./hostile-values.ts";
import { isRawJson } from "./raw-json.ts";

type Key = string | number;

const extraNames = [
  "",
  "extra",
  "__proto__",
  "constructor",
  "toString",
  "id",
  "stream",
  "messages",
  "evaluators",
  "input",
  "$ref",
  "a\u0000b",
  "\ud800",
  "x".repeat(300),
];

/** Changes a value at one place. The place depends on the value; everything random is drawn beforehand. */
export type ValueMutation = (value: unknown) => unknown;

export function drawValueMutation(draw: Draw, limits: readonly number[]): ValueMutation {
  const place = draw.below(1_000_000);
  const hostile = hostileValue(draw, limits);
  const text = hostileText(draw, limits);
  const name = draw.pick(extraNames);
  const copies = draw.pick([2, 20, 21, 50, 51, 101, 1_001]);
  const kind = draw.pick([
    "replace",
    "replace",
    "replace",
    "null",
    "remove",
    "add",
    "text",
    "repeat",
    "wrap",
  ]);
  const change = (part: unknown): unknown => {
    switch (kind) {
      case "null":
        return null;
      case "remove":
        return undefined;
      case "add":
        return isObject(part) ? withProperty(part, name, hostile) : hostile;
      case "text":
        return typeof part === "string" ? part + text : text;
      case "repeat":
        return repeated(part, copies);
      case "wrap":
        return place % 2 === 0 ? [part] : { value: part };
      default:
        return hostile;
    }
  };
  return (value) => {
    const places = placesIn(value);
    return changeAt(value, places[place % places.length] ?? [], change);
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** Uses defineProperty because assigning `__proto__` would set the prototype. */
function withProperty(object: Record<string, unknown>, name: string, value: unknown): object {
  const copy = { ...object };
  Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  return copy;
}

function repeated(part: unknown, copies: number): unknown {
  if (typeof part === "string") return part.length < 1_000 ? part.repeat(copies) : part;
  const items = Array.isArray(part) ? part : [part];
  return Array.from({ length: copies }, (_, index) => items[index % Math.max(1, items.length)] ?? null);
}

/** The paths of the value and all its parts. */
function placesIn(value: unknown): Key[][] {
  const places: Key[][] = [[]];
  const keys: Key[] = Array.isArray(value)
    ? [...value.keys()].slice(0, 50)
    : isObject(value)
      ? Object.keys(value)
      : [];
  for (const key of keys) {
    const part = (value as Record<Key, unknown>)[key];
    places.push(...placesIn(part).map((place) => [key, ...place]));
  }
  return places;
}

function changeAt(value: unknown, [key, ...rest]: Key[], change: ValueMutation): unknown {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) {
    const changed = changeAt(value[Number(key)], rest, change);
    return value.flatMap((item, index) =>
      index === key ? (changed === undefined ? [] : [changed]) : [item],
    );
  }
  const object = value as Record<string, unknown>;
  return withProperty(object, String(key), changeAt(object[key], rest, change));
}
