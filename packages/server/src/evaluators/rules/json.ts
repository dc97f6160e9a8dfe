import { parseNumbers } from "../../platform/json.ts";
import { shortened } from "../../platform/words.ts";
import type { Position, Verdict } from "../outcome.ts";
import { codePointPositions } from "./text.ts";

export interface JsonIssue {
  /** The offset in UTF-16 units of the text. */
  at: number;
  reason: string;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** What may come next: a value, a value or the array's end, a key, … */
type Expected = "value" | "item" | "key" | "firstKey" | "colon" | "separator";

const expectedWords: Record<Expected, string> = {
  value: "a value",
  item: "a value or ]",
  key: "a key in double quotes",
  firstKey: "a key in double quotes or }",
  colon: "a colon",
  separator: "a comma or the closing bracket",
};

/** Where a text stops being JSON, which the runtime's own parser does not report. Not recursive: texts may be nested to any depth. */
export function findJsonIssue(text: string, maxDepth: number): JsonIssue | undefined {
  const closers: string[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    const done: boolean = expected === "separator" && closers.length === 0;
    const wantsKey: boolean = expected === "key" || expected === "firstKey";
    const wantsValue: boolean = expected === "value" || expected === "item";
    const character = text[at];
    if (character === undefined)
      return done ? undefined : { at, reason: `the text ends where ${expectedWords[expected]} is expected` };
    if (done) return { at, reason: "unexpected text after the JSON" };

    if (character === closers.at(-1) && ["item", "firstKey", "separator"].includes(expected)) {
      closers.pop();
      expected = "separator";
      at += 1;
    } else if (expected === "separator" && character === ",") {
      expected = closers.at(-1) === "}" ? "key" : "value";
      at += 1;
    } else if (expected === "colon" && character === ":") {
      expected = "value";
      at += 1;
    } else if (character === '"' && (wantsKey || wantsValue)) {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      expected = wantsKey ? "colon" : "separator";
      at = end;
    } else if (wantsValue && (character === "{" || character === "[")) {
      if (closers.length === maxDepth) return { at, reason: `nested deeper than ${maxDepth} levels` };
      closers.push(character === "{" ? "}" : "]");
      expected = character === "{" ? "firstKey" : "item";
      at += 1;
    } else {
      scalar.lastIndex = at;
      if (!wantsValue || !scalar.test(text))
        return { at, reason: `${expectedWords[expected]} is expected here` };
      expected = "separator";
      at = scalar.lastIndex;
    }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return at;
}

function endOfString(text: string, from: number): number | JsonIssue {
  for (let at = from + 1; ; ) {
    const character = text[at];
    if (character === undefined) return { at, reason: "the text ends inside a string" };
    if (character === '"') return at + 1;
    if (character < " ") return { at, reason: "a string contains a control character" };
    if (character === "\\") {
      escapeSequence.lastIndex = at;
      if (!escapeSequence.test(text)) return { at, reason: "unknown escape in a string" };
      at = escapeSequence.lastIndex;
    } else {
      at += 1;
    }
  }
}

/** The path from the root to a place in a document; formatted as a pointer only when it is shown. */
export interface JsonPath {
  parent: JsonPath | undefined;
  key: string;
}

const maxKeyLength = 100;
const maxPointerLength = 500;

/** The place as a JSON pointer (RFC 6901), cut if it is very long. */
export function toJsonPointer(path: JsonPath | undefined): string {
  const tokens: string[] = [];
  for (let node = path; node !== undefined; node = node.parent)
    tokens.push(`/${shortened(node.key, maxKeyLength).replaceAll("~", "~0").replaceAll("/", "~1")}`);
  return shortened(tokens.reverse().join(""), maxPointerLength);
}

/** The keys that a JSON pointer names; undefined if it is not a JSON pointer. */
export function readJsonPointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  const tokens = pointer.slice(1).split("/");
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The verdict on an output whose compared part, `[start, end]` in UTF-16 units, is not JSON. */
export function notJson(output: string, { at, reason }: JsonIssue, [start, end]: Position): Verdict {
  const positions = codePointPositions(output, [[start + at, end]]);
  return {
    pass: false,
    score: 0,
    positions,
    explain: () => `The output is not JSON from character ${positions[0]?.[0] ?? 0} on: ${reason}.`,
  };
}

/** Deeper than any real document, and shallow enough for recursive code. */
export const maxJsonDepth = 1_000;

/** A long integer is a `bigint` if its digits have to be kept. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export type JsonReading = { value: Json; issue?: never } | { value?: never; issue: JsonIssue };

/** Reads JSON, or says where the text stops being JSON. */
export function readJson(text: string): JsonReading {
  try {
    const value: Json = JSON.parse(text);
    if (!isDeeperThan(value, maxJsonDepth)) return { value };
  } catch {
    // The parser's message says neither where the issue is nor, in plain words, what it is.
  }
  return { issue: findJsonIssue(text, maxJsonDepth) ?? { at: 0, reason: "it cannot be read" } };
}

/** Like `readJson`, but an integer beyond a double's exact range keeps its digits, and a number that would be infinite is kept as its text. */
export function readExactJson(text: string): JsonReading {
  const reading = readJson(text);
  if (reading.issue !== undefined || !/\d{16}|\de\+?\d{3}/i.test(text)) return reading;
  const value = parseNumbers(text, (double, source) => {
    if (!Number.isSafeInteger(double) && /^-?\d+$/.test(source)) return BigInt(source);
    return Number.isFinite(double) ? double : source;
  });
  return { value: value as Json };
}

/** Goes level by level, without recursion, for values nested to any depth. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === maxDepth) return true;
    const next: object[] = [];
    for (const container of level)
      for (const child of Object.values(container)) if (isContainer(child)) next.push(child);
    level = next;
  }
  return false;
}

/** Whether a value is an object or a list. */
export function isContainer<Value>(value: Value): value is Value & object {
  return typeof value === "object" && value !== null;
}
