import { z } from "zod";
import type { Position } from "../../evaluator-outcome.ts";
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
