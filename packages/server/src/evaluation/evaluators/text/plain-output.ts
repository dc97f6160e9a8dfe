import type { Position } from "../../evaluator-outcome.ts";

const thinkStart = "<think>";
const thinkEnd = "</think>";
const responseStart = "<tool_response>";
const responseEnd = "</tool_response>";

/** A model's output without its reasoning and without the tags of a tool's answer around it. */
export function plainOutput(text: string): string {
  return text.slice(...plainRange(text));
}

/** Where in the output that part stands, in UTF-16 units. */
export function plainRange(text: string): Position {
  return unwrapResponse(text, afterThinking(text));
}

/** A chat template may already have opened the first block in the prompt, so that only its end is in the output. */
function afterThinking(text: string): number {
  let start = 0;
  let end = text.indexOf(thinkEnd);
  if (end >= 0) start = end + thinkEnd.length;
  while (text.startsWith(thinkStart, skipSpace(text, start))) {
    end = text.indexOf(thinkEnd, start);
    // A block that the token limit cut off is all thought and no answer.
    if (end < 0) return text.length;
    start = end + thinkEnd.length;
  }
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

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] ?? "").trim() === "") at += 1;
  return at;
}
