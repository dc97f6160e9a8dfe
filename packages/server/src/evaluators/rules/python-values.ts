import { parseNumbers } from "../../platform/json.ts";
import { isContainer, type Json, readJson } from "./json.ts";
import { pythonSpace, pythonStripRange } from "./text.ts";

/** Python refuses to read longer integers. */
const maxIntegerDigits = 4_300;

// Constants that Python reads, although JSON has none. They count only outside strings, and not as part of a word or number.
const quoteOrConstant = /\\.|"|(?<![\w.+-])(?:-?Infinity|NaN)(?![\w.+-])/gs;
const infinity = "1e999";
/** Replaces NaN while a text is read: a number that no text contains. */
const notANumber = "-0.000e-0987654321";

/**
 * A text as Python's `json.loads` reads it, or undefined if that refuses it: an integer is a `bigint`, any other number a `number`.
 */
export function readPythonJson(text: string): Json | undefined {
  const source = /NaN|Infinity/.test(text) ? replaceConstants(text) : text;
  // Checks the depth too, before the reviver goes down into it.
  const reading = readJson(source);
  if (reading.issue !== undefined) return undefined;
  if (!/\d/.test(source)) return reading.value;
  try {
    return parseNumbers(source, tellNumbersApart) as Json;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function replaceConstants(text: string): string {
  let isInString = false;
  return text.replace(quoteOrConstant, (found) => {
    if (found === '"') isInString = !isInString;
    if (isInString || found === '"' || found.startsWith("\\")) return found;
    return found === "NaN" ? notANumber : found.replace("Infinity", infinity);
  });
}

function tellNumbersApart(value: number, source: string): number | bigint {
  if (source === notANumber) return Number.NaN;
  if (!/^-?\d+$/.test(source)) return value;
  if (source.length - (source.startsWith("-") ? 1 : 0) > maxIntegerDigits) {
    throw new RangeError("Python reads no integer of that length");
  }
  return BigInt(source);
}

const thinkStart = "<think>";
const thinkEnd = "</think>";
const responseStart = "<tool_response>";
const responseEnd = "</tool_response>";
const tag = new RegExp(`</?(?:tool_response|think)(?:${pythonSpace.source})?>`, "g");

export type MdlmText = { text: string; json: Json | undefined };

/** A prediction or a reference as the scorer of `mdlm_world_modeling` compares it: without its tags, and read if it is JSON. */
export function readMdlmText(original: string): MdlmText {
  const untagged = stripMdlmTags(original);
  const text = untagged.slice(...pythonStripRange(untagged));
  return { text, json: readPythonJson(text) };
}

/**
 * Removes complete `<think>` blocks wherever they are. Then only the inside of the first complete `<tool_response>` block counts; without
 * one, single tags are removed and the text around them stays.
 */
function stripMdlmTags(original: string): string {
  const text = stripThinking(original);
  const start = text.indexOf(responseStart);
  const end = start < 0 ? -1 : text.indexOf(responseEnd, start);
  return end < 0 ? text.replaceAll(tag, "") : text.slice(start + responseStart.length, end);
}

function stripThinking(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(thinkStart, from);
    const end = start < 0 ? -1 : text.indexOf(thinkEnd, start);
    if (end < 0) return [...kept, text.slice(from)].join("");
    kept.push(text.slice(from, start));
    from = end + thinkEnd.length;
  }
}

/** Whether Python's `==` holds between two values that it read from JSON: true is 1, and 1 is 1.0. */
export function isEqualInPython(one: Json, other: Json): boolean {
  if (isContainer(one) && isContainer(other)) return isSameContainer(one, other, isSameItem);
  const [left, right] = [toNumber(one), toNumber(other)];
  // Exact, even for an integer with all its digits and a number such as 1e17.
  if (left !== undefined && right !== undefined) return left <= right && left >= right;
  return one === other;
}

/** Inside lists and objects, Python counts its one NaN as equal to itself, although outside it is not. */
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
function toNumber(value: Json): number | bigint | undefined {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "number" || typeof value === "bigint" ? value : undefined;
}

/** Thrown where Python would raise an exception, which tells a published script that a prediction has the wrong form. */
export class PythonError extends Error {
  constructor() {
    super("Python raises an exception here");
    this.name = "PythonError";
  }
}

/** What a Python `for` loop iterates over: a list's items, an object's keys, a text's characters. */
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

/** Python's `<`, for texts, numbers and lists. */
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
