import { paramFields } from "./draft.ts";

type Further = { params: Record<string, unknown>; fault?: never } | { params?: never; fault: string };

const ownFields: readonly string[] = paramFields;

/** Parameters beside those that have a field of their own: one JSON object, or nothing. */
export function readFurtherParams(text: string): Further {
  if (text.trim() === "") return { params: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `This is not JSON yet: ${error instanceof Error ? error.message : "it cannot be read"}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { fault: 'An object is needed, for example {"seed": 7}.' };
  }
  const params = value as Record<string, unknown>;
  const doubled = Object.keys(params).find((name) => name !== "further" && ownFields.includes(name));
  if (doubled !== undefined) return { fault: `${doubled} has a field of its own above.` };
  if (holdsLongInteger(value)) {
    return { fault: "A whole number in it is too long: a browser cannot send it unchanged." };
  }
  return { params };
}

function holdsLongInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLongInteger);
}
