import { endOfThinking, skipSpace, startsWithThinking } from "../../../upstream/read-completion.ts";
import type { Position } from "../../evaluator-outcome.ts";

const responseStart = "<tool_response>";
const responseEnd = "</tool_response>";

/** A model's output without its reasoning and the `<tool_response>` tags around it. */
export function plainOutput(text: string): string {
  return text.slice(...plainRange(text));
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

function unwrapResponse(text: string, from: number): Position {
  const start = skipSpace(text, from);
  if (!text.startsWith(responseStart, start)) return [from, text.length];
  const inner = start + responseStart.length;
  const end = text.trimEnd().length;
  return text.endsWith(responseEnd, end) && end - responseEnd.length >= inner
    ? [inner, end - responseEnd.length]
    : [inner, text.length];
}
