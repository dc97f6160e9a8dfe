import type { Position } from "../evaluator-outcome.ts";

// Python knows more control characters as white space than `\s` does, and no byte order mark.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what Python splits at
export const pythonSpace = /(?:[\x1c-\x1f\x85]|[^\S\uFEFF])+/;

/** Splits at white space as Python's `str.split()` does, on which the published metrics are built. */
export function splitWords(text: string): string[] {
  return text.split(pythonSpace).filter((word) => word !== "");
}

/** Removes white space at the end as Python's `str.rstrip()` does. */
export function trimPythonEnd(text: string): string {
  return text.slice(0, pythonEnd(text));
}

/** What Python's `str.strip()` leaves of a text, in UTF-16 units. */
export function pythonStripRange(text: string): Position {
  const end = pythonEnd(text);
  let start = 0;
  while (start < end && pythonSpace.test(text[start] ?? "")) start += 1;
  return [start, end];
}

function pythonEnd(text: string): number {
  let end = text.length;
  while (end > 0 && pythonSpace.test(text[end - 1] ?? "")) end -= 1;
  return end;
}
