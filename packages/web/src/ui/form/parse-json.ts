/** The parsed value, or why the text is not JSON. */
export function parseJson(text: string): { value: unknown } | { issue: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { issue: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

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
