import { findJsonIssue, type JsonIssue } from "./find-json-issue.ts";

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
    // The parser's message does not say where, nor in plain words what.
  }
  return { issue: findJsonIssue(text, maxJsonDepth) ?? { at: 0, reason: "it cannot be read" } };
}

/** Like `readJson`, but an integer beyond a double's exact range keeps its digits. */
export function readExactJson(text: string): JsonReading {
  const reading = readJson(text);
  if (reading.issue !== undefined || !/\d{16}/.test(text)) return reading;
  return { value: JSON.parse(text, keepLongInteger) };
}

/** The runtime passes the source text to a reviver; TypeScript's types do not know that yet. */
function keepLongInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Level by level and without recursion, for values nested to any depth. */
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
