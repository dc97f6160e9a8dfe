import { type JsonSource, parseJsonSource } from "./json-source.ts";

const wrapped = /^\s*<tool_response>([\s\S]*)<\/tool_response>\s*$/;

/** The object or list that a text is, or holds between the tags of a tool's response. */
export function findJson(text: string): JsonSource | undefined {
  return parseJsonSource(wrapped.exec(text)?.[1] ?? text);
}
