import * as fc from "fast-check";
import { type Draw, isRawJson, rawJson } from "./draw.ts";

const texts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u0001\u001f\u007f\u0085",
  "\r\n\t",
  "\ud800",
  "x\udc00y",
  "\uffff\ufffe",
  "\u202eright to left\u202c \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
  "\u200b\u200d\ufeff",
  "e\u0301".repeat(20),
  `Z${"\u0335\u0322\u0327".repeat(50)}`,
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}",
  "\ufdfa",
  "\u0130I\u0131i\u00df\u017f",
  "null",
  "true",
  "NaN",
  "Infinity",
  "-0",
  "1e400",
  "0x10",
  "9007199254740993",
  "__proto__",
  "constructor",
  "system:",
  "system:is-concise",
  "' or 1=1 --",
  '"; drop table users; --',
  "%s%n%00%ff",
  "{{7*7}}",
  "../../../etc/passwd",
  "<script>alert(1)</script>",
  "00000000-0000-0000-0000-000000000000",
  "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999999Z",
  "+275760-09-13T00:00:00Z",
  "2024-02-30T00:00:00Z",
  "2024-06-30T23:59:60Z",
  "2024-01-01",
  "2024-01-01T00:00:00+23:59",
  "2024-01-01t00:00:00z",
  "1700000000",
  "P1Y",
  "(a+)+$",
  "[",
  "\\",
  "<think>",
  "</think>{",
  "```json\n{",
];

const numbers = [
  "0",
  "-0",
  "-0.0",
  "1",
  "-1",
  "0.1",
  "1.0",
  "1e0",
  "1e-400",
  "5e-324",
  "1e300",
  "1.7976931348623157e308",
  "1e400",
  "-1e400",
  "2147483647",
  "2147483648",
  "-2147483649",
  "4294967296",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551616",
  "1".repeat(400),
  `0.${"3".repeat(400)}`,
].map(rawJson);

const anyText = fc.string({ unit: "binary", maxLength: 40 });
const anyJson = fc.jsonValue();
const literals = [null, true, false, {}, [], [null], [[]], [{}], { "": "" }] as const;

/** Mostly short, sometimes as long as one of the limits. */
export function hostileText(draw: Draw, limits: readonly number[]): string {
  if (draw.chance(0.5)) return draw.pick(texts);
  if (draw.chance(0.5)) return draw.value(anyText);
  const unit = draw.pick(["a", "\u00e9", "\u{1f600}", "\n", "\ud800", "\u0000"]);
  return unit.repeat(Math.max(0, draw.pick(limits) + draw.below(3) - 1));
}

function hostileNumber(draw: Draw, limits: readonly number[]): unknown {
  return draw.chance(0.7) ? draw.pick(numbers) : draw.pick(limits) + draw.below(3) - 1;
}

/** A value of any type, unlikely to be valid. */
function hostileValue(draw: Draw, limits: readonly number[]): unknown {
  const kind = draw.below(12);
  if (kind < 4) return hostileText(draw, limits);
  if (kind < 7) return hostileNumber(draw, limits);
  if (kind < 9) return draw.pick(literals);
  if (kind === 9) return draw.value(anyJson);
  if (kind === 10) return nested(draw, draw.pick([2, 10, 19, 20, 21, 64, 500, 2_000]));
  return Array.from({ length: draw.pick([2, 21, 51, 101, 1_001]) }, () => draw.pick(literals));
}

function nested(draw: Draw, depth: number): unknown {
  const [opening, closing] = draw.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ] as const);
  return rawJson(`${opening.repeat(depth)}1${closing.repeat(depth)}`);
}

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
