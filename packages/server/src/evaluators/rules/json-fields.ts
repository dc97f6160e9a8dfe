import { UnusableSampleError } from "../evaluation-error.ts";
import type { Json } from "./read-json.ts";

/** Pointers of deep documents are many times as long as the documents. */
const maxPointerCharacters = 20_000_000;

/**
 * The leaves of a document, each as `pointer = value`: scalars, and empty objects and lists. The
 * pointers are whole, since they tell fields apart. The document is no deeper than `readJson` lets it be.
 */
export function jsonFields(document: Json): string[] {
  const fields: string[] = [];
  let pointerCharacters = 0;

  function visit(pointer: string, value: Json): void {
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (entries.length === 0) {
      pointerCharacters += pointer.length;
      if (pointerCharacters > maxPointerCharacters) {
        throw new UnusableSampleError("The JSON is too deep and too long to be compared field by field.");
      }
      fields.push(`${pointer} = ${typeof value === "bigint" ? value : JSON.stringify(value)}`);
    }
    for (const [key, child] of entries) {
      visit(`${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, child);
    }
  }

  visit("", document);
  return fields;
}
