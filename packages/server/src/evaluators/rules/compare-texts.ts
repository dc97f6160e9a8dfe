import { z } from "zod";
import type { Position } from "../evaluator-outcome.ts";
import { codePointPositions } from "./code-points.ts";
import { plainRange, stripTagsSetting } from "./plain-output.ts";

/** A profile's settings for differences that do not count. */
export const textNormalisation = {
  trim: z.boolean().default(true).meta({ description: "White space at both ends does not count." }),
  ignore_case: z.boolean().default(false).meta({ description: "Upper and lower case are the same." }),
  strip_tags: stripTagsSetting(false),
};

export interface TextNormalisation {
  trim: boolean;
  ignore_case: boolean;
  strip_tags: boolean;
}

export interface NormalisedText {
  text: string;
  /** Its position in the original, in UTF-16 units. Absent if lower-casing changed its length. */
  range?: Position | undefined;
}

export function normaliseText(original: string, profile: TextNormalisation): NormalisedText {
  const range = comparedRange(original, profile);
  const compared = original.slice(...range);
  const text = profile.ignore_case ? compared.toLowerCase() : compared;
  return { text, range: text.length === compared.length ? range : undefined };
}

function comparedRange(text: string, { trim, strip_tags }: TextNormalisation): Position {
  const [start, end] = strip_tags ? plainRange(text) : [0, text.length];
  if (!trim) return [start, end];
  const trimmedEnd = start + text.slice(start, end).trimEnd().length;
  const leading = trimmedEnd - start - text.slice(start, trimmedEnd).trimStart().length;
  return [start + leading, trimmedEnd];
}

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
