import { cutBefore } from "../untrusted-text/cut-before.ts";

/** A part of a compared line. */
export interface LinePart {
  text: string;
  isChanged: boolean;
  /** The number of characters left out after the text. */
  omitted: number;
}

/** How many characters stay at each end of an equal part, and of a changed part. */
const equalEnd = 120;
const maxChange = 4_000;

export function linePart(text: string, isChanged = false): LinePart {
  return { text, isChanged, omitted: 0 };
}

/** Shortens long parts. */
export function shorten(parts: readonly LinePart[]): LinePart[] {
  return parts.filter(({ text }) => text !== "").flatMap(shortenOne);
}

function shortenOne(whole: LinePart): LinePart[] {
  const { text, isChanged } = whole;
  if (isChanged) {
    if (text.length <= maxChange) return [whole];
    const end = cutBefore(text, maxChange);
    return [{ text: text.slice(0, end), isChanged, omitted: text.length - end }];
  }
  if (text.length <= 3 * equalEnd) return [whole];
  const end = cutBefore(text, equalEnd);
  const start = cutBefore(text, text.length - equalEnd);
  return [{ text: text.slice(0, end), isChanged, omitted: start - end }, linePart(text.slice(start))];
}
