import { z } from "zod";
import type { Position } from "../../evaluator-outcome.ts";
import { plainRange } from "./plain-output.ts";

/** What a profile may say about differences that do not count. */
export const textNormalisation = {
  trim: z.boolean().default(true).meta({ description: "White space at both ends does not count." }),
  ignore_case: z.boolean().default(false),
  strip_tags: z
    .boolean()
    .default(false)
    .meta({ description: "Take out `<think>` blocks and unwrap `<tool_response>` first." }),
};

export interface TextNormalisation {
  trim: boolean;
  ignore_case: boolean;
  strip_tags: boolean;
}

export interface NormalisedText {
  text: string;
  /** Where it stands in the original, in UTF-16 units. Absent if folding its case has changed its length. */
  range?: Position;
}

export function normaliseText(original: string, profile: TextNormalisation): NormalisedText {
  const range = comparedRange(original, profile);
  const compared = original.slice(...range);
  const text = profile.ignore_case ? compared.toLowerCase() : compared;
  return text.length === compared.length ? { text, range } : { text };
}

function comparedRange(text: string, { trim, strip_tags }: TextNormalisation): Position {
  const [start, end] = strip_tags ? plainRange(text) : [0, text.length];
  if (!trim) return [start, end];
  const trimmedEnd = start + text.slice(start, end).trimEnd().length;
  const leading = trimmedEnd - start - text.slice(start, trimmedEnd).trimStart().length;
  return [start + leading, trimmedEnd];
}
