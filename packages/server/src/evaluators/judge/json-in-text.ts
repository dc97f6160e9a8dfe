import { jsonrepair } from "jsonrepair";

/** More than any verdict needs; the end of the text counts. */
const maxCharacters = 200_000;
const objectStart = /\{\s*"/g;

export interface FoundObject {
  /** As the model wrote it. */
  source: string;
  value: unknown;
}

/**
 * The objects that a model wrote among other text, the last first, repaired where they are broken. Nested objects are
 * ignored, as the judged text may be quoted there. It stops at one that cannot be read, which may have been the real verdict.
 */
export function* jsonInText(answer: string, decidingKey: string): Generator<FoundObject> {
  for (const source of outermostObjects(answer.slice(-maxCharacters)).toReversed()) {
    const value = tryParse(source) ?? tryRepaired(source, decidingKey);
    if (value === undefined) return;
    yield { source, value };
  }
}

/** The last one may be incomplete. */
function outermostObjects(text: string): string[] {
  const objects: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(objectStart)) {
    if (index < end) continue;
    end = endOfObject(text, index);
    objects.push(text.slice(index, end));
  }
  return objects.length === 0 ? looseObject(text) : objects;
}

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** One in single quotes, or with unquoted keys. */
function looseObject(text: string): string[] {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return start === -1 ? [] : [text.slice(start, end > start ? end + 1 : undefined)];
}

export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tryRepaired(text: string, decidingKey: string): unknown {
  try {
    const repaired = jsonrepair(text);
    // An unescaped quotation can become a key of its own; then it is unclear which of the two was meant.
    const isClear = repaired.split(new RegExp(`"${decidingKey}"\\s*:`)).length === 2;
    return isClear ? JSON.parse(repaired) : undefined;
  } catch {
    return undefined;
  }
}
