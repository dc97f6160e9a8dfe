import { findJsonFault, type JsonFault } from "./find-json-issue.ts";
import { isContainer } from "./is-container.ts";

/** Deeper than any real document, and shallow enough for whatever walks it by recursion. */
export const maxJsonDepth = 1_000;

/** A long integer is a `bigint` where digits have to be kept. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export type JsonReading = { value: Json; fault?: never } | { fault: JsonFault };

/** Reads JSON, or says where the text stops to be any. */
export function readJson(text: string): JsonReading {
  try {
    const value: Json = JSON.parse(text);
    if (!isDeeperThan(value, maxJsonDepth)) return { value };
  } catch {
    // The parser's message says neither where nor, in people's words, what.
  }
  return { fault: findJsonFault(text, maxJsonDepth) ?? { at: 0, reason: "it cannot be read" } };
}

/** Like `readJson`, but an integer beyond a double's exact range keeps its digits. */
export function readExactJson(text: string): JsonReading {
  const reading = readJson(text);
  if (reading.fault !== undefined || !/\d{16}/.test(text)) return reading;
  return { value: JSON.parse(text, keepLongInteger) };
}

/** The reviver's source text is in the runtime, not yet in TypeScript's library. */
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
