import { findJson } from "../untrusted-text/find-json.ts";

/** Whether a difference of two texts is worth reading: they are both JSON, or have words of a line in common. */
export function sharesLines(before: string, after: string): boolean {
  if (findJson(before) !== undefined && findJson(after) !== undefined) return true;
  const lines = linesOf(before);
  const others = new Set(linesOf(after));
  if (lines.some((line) => others.has(line))) return true;
  // Single lines are compared by words.
  return lines.length <= fewLines && others.size <= fewLines && sharesWords(before, after);
}

const fewLines = 4;
const leastShared = 0.3;

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

function sharesWords(before: string, after: string): boolean {
  const [one, other] = [wordsOf(before), wordsOf(after)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared >= leastShared * Math.min(one.size, other.size) && shared > 0;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
