import { findJson } from "./find-json.ts";
import { jsonLines } from "./json-lines.ts";

/** JSON set out for reading; undefined for a text that is none. */
export function layOutJson(text: string): string | undefined {
  const json = findJson(text);
  if (json === undefined) return undefined;
  const lines = jsonLines(json).map((line) => line.text);
  return lines.join("\n");
}
