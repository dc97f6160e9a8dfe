import { parseJson } from "./parse-json.ts";

export type JsonObject = Record<string, unknown>;

/** The parsed object, or what is wrong with the text. */
export function parseJsonObject(text: string): { value: JsonObject } | { issue: string } {
  const parsed = parseJson(text);
  if ("issue" in parsed) return parsed;
  return isJsonObject(parsed.value) ? { value: parsed.value } : { issue: "This must be an object: {…}" };
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
