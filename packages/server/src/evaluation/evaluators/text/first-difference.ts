import { codePointPositions } from "./code-points.ts";

const shownCharacters = 40;

/** Where two texts begin to differ, in UTF-16 units; undefined if they are equal. */
export function firstDifference(one: string, other: string): number | undefined {
  if (one === other) return undefined;
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at < shorter && one[at] === other[at]) at += 1;
  // Never in the middle of a surrogate pair.
  return at > 0 && /[\uD800-\uDBFF]/.test(one[at - 1] ?? "") ? at - 1 : at;
}

/**
 * Says where and how an output differs from the gold answer. The compared part of the output begins at `start`, for example
 * after white space.
 */
export function describeDifference(output: string, gold: string, at: number, start = 0): string {
  if (output.length === start) return `The output is empty, but the gold answer ${describeAt(gold, at)}.`;
  const [position] = codePointPositions(output, [[start + at, start + at]]);
  return `The output differs from character ${position?.[0] ?? at} on: it ${describeAt(output, start + at)}, but the gold answer ${describeAt(gold, at)}.`;
}

function describeAt(text: string, at: number): string {
  if (at >= text.length) return "ends there";
  const shown = [...text.slice(at, at + 2 * shownCharacters)].slice(0, shownCharacters).join("");
  return `has ${JSON.stringify(at + shown.length < text.length ? `${shown}…` : shown)}`;
}
