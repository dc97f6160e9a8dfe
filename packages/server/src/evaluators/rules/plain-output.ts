import { z } from "zod";
import { endOfThinking, skipSpace, startsWithThinking } from "../../upstream/completion.ts";
import type { Position } from "../evaluator-outcome.ts";

const responseStart = "<tool_response>";
const responseEnd = "</tool_response>";

/** The setting of a profile that compares plain outputs. */
export function stripTagsSetting(byDefault: boolean) {
  return z.boolean().default(byDefault).meta({
    description: "First remove `<think>` blocks, and everything outside the first `<tool_response>` tags.",
  });
}

/** A model's output without its reasoning, and without the first pair of `<tool_response>` tags and what is outside it. */
export function plainOutput(text: string): string {
  return text.slice(...plainRange(text));
}

/** The text that a profile compares. The white space around the tags goes with them. */
export function comparedText(text: string, stripTags: boolean): string {
  return stripTags ? plainOutput(text).trim() : text;
}

/** The position of that part in the output, in UTF-16 units. */
export function plainRange(text: string): Position {
  return unwrapResponse(text, afterThinking(text));
}

function afterThinking(text: string): number {
  let start = endOfThinking(text) ?? 0;
  // Only the first block may lack its beginning.
  while (startsWithThinking(text, start)) start = endOfThinking(text, start) ?? text.length;
  return start;
}

/**
 * The first end tag ends the response, whatever a model that did not stop wrote after it. The start tag may have been in the prompt,
 * and the end tag is missing if the token limit cut the response off.
 */
function unwrapResponse(text: string, from: number): Position {
  const found = text.indexOf(responseEnd, from);
  const end = found < 0 ? text.length : found;
  const first = skipSpace(text, from);
  // Without an end tag, a start tag inside the text is a mention of it, not the beginning.
  const start = found < 0 && !text.startsWith(responseStart, first) ? -1 : text.indexOf(responseStart, first);
  return start < 0 || start >= end ? [from, end] : [start + responseStart.length, end];
}
