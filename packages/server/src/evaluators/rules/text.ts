import { z } from "zod";
import { andMore, shortened } from "../../platform/words.ts";
import { endOfThinking, skipSpace, startsWithThinking } from "../../upstream/completion.ts";
import type { Position } from "../outcome.ts";

/** Translates offsets of a text from UTF-16 units, in which JavaScript counts, to Unicode code points. */
export function codePointPositions(text: string, ranges: readonly Position[]): Position[] {
  const offsets = [...new Set(ranges.flat())].sort((a, b) => a - b);
  const codePoints = new Map<number, number>();
  let unit = 0;
  let count = 0;
  for (const offset of offsets) {
    while (unit < offset) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      count += 1;
    }
    codePoints.set(offset, count);
  }
  const at = (offset: number) => codePoints.get(offset) ?? offset;
  return ranges.map(([start, end]) => [at(start), at(end)]);
}

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
  return text.slice(...strippedRange(text, stripTags));
}

/** The position of the text that a profile compares, in UTF-16 units. */
export function strippedRange(text: string, stripTags: boolean): Position {
  return stripTags ? comparedRange(text, { trim: true, strip_tags: true }) : [0, text.length];
}

/** The position of the plain output in the text, in UTF-16 units. */
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
  /** The text's position in the original, in UTF-16 units. Absent if lower-casing changed its length. */
  range?: Position | undefined;
}

export function normaliseText(original: string, profile: TextNormalisation): NormalisedText {
  const range = comparedRange(original, profile);
  const compared = original.slice(...range);
  const text = profile.ignore_case ? compared.toLowerCase() : compared;
  return { text, range: text.length === compared.length ? range : undefined };
}

function comparedRange(text: string, { trim, strip_tags }: Omit<TextNormalisation, "ignore_case">): Position {
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

const charactersBefore = 20;

/** The end of a text from shortly before where it differs from another, if its first `maxLength` characters might not show that. */
export function fromDifference(text: string, other: string, maxLength: number): string {
  const from = (firstDifference(text, other) ?? 0) - charactersBefore;
  return from + 2 * charactersBefore > maxLength
    ? `…${text.slice(from).replace(/^[\uDC00-\uDFFF]/, "")}`
    : text;
}

/**
 * Says where and how an output differs from the gold answer. The compared part of the output begins at `start`, for example
 * after white space.
 */
export function describeDifference(output: string, gold: string, at: number, start = 0): string {
  if (output.length === start) return `The output is empty, but the gold answer ${describeAt(gold, at)}.`;
  const [position] = codePointPositions(output, [[start + at, start + at]]);
  const looksAlike = firstVisible(output, start + at) === firstVisible(gold, at);
  const characters = looksAlike ? ` (${nameAt(output, start + at)}, not ${nameAt(gold, at)})` : "";
  return `The output differs from character ${position?.[0] ?? at} on: it ${describeAt(output, start + at)}, but the gold answer ${describeAt(gold, at)}${characters}.`;
}

/** The first visible character: forms of a character, of spaces and of dashes look alike, and some characters are invisible. */
function firstVisible(text: string, at: number): string | undefined {
  const visible = text
    .slice(at, at + shownCharacters)
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "");
  return /./su.exec(visible)?.[0].replace(/[\p{Pd}−]/u, "-");
}

function nameAt(text: string, at: number): string {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? "the end" : `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}

function describeAt(text: string, at: number): string {
  return at >= text.length ? "ends there" : `has ${quote(text, at)}`;
}

/** The first characters of a text from there on, in quotes. */
export function quote(text: string, at = 0): string {
  const shown = Array.from(text.slice(at, at + 2 * shownCharacters))
    .slice(0, shownCharacters)
    .join("");
  return JSON.stringify(at + shown.length < text.length ? `${shown}…` : shown);
}

const shownItems = 10;
const shownItemCharacters = 60;

/** A sentence that may end with a quoted one, which has its own full stop: `Missing: "It is a box."` */
export function endSentence(text: string): string {
  return /[.!?…]"$/.test(text) ? text : `${text}.`;
}

/** Names the first few of some items for a person, from where they differ from items of the `others` that begin alike. */
export function listItems(items: Multiset, others: readonly Multiset[] = []): string {
  const names = [...items.keys()].slice(0, shownItems).map((item) => {
    const start = item.slice(0, shownItemCharacters - charactersBefore);
    const isLike = (other: string) => !items.has(other) && other.startsWith(start);
    const twin =
      item.length > shownItemCharacters
        ? others.flatMap((some) => some.keys().find(isLike) ?? [])[0]
        : undefined;
    const bare = item.trimStart();
    // Indentation is shown only where it is the difference.
    const isSame = (other: string) => other !== item && other.trimStart() === bare;
    const text = others.some((some) => some.keys().some(isSame)) ? item : bare;
    return JSON.stringify(
      shortened(
        twin === undefined ? text : fromDifference(item, twin, shownItemCharacters),
        shownItemCharacters,
      ),
    );
  });
  return andMore(names, items.size);
}

/** How often each item occurs. */
export type Multiset = ReadonlyMap<string, number>;

export function countItems(items: Iterable<string>): Multiset {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** Items of the first that the second lacks, as often as it lacks them. */
export function subtract(from: Multiset, what: Multiset): Multiset {
  const rest = new Map<string, number>();
  if (from === what) return rest;
  for (const [item, count] of from) {
    const left = count - (what.get(item) ?? 0);
    if (left > 0) rest.set(item, left);
  }
  return rest;
}

export function sizeOf(items: Multiset): number {
  let size = 0;
  for (const count of items.values()) size += count;
  return size;
}

/** How many items two multisets have in common. */
export function overlapOf(one: Multiset, other: Multiset): number {
  let shared = 0;
  for (const [item, count] of one) shared += Math.min(count, other.get(item) ?? 0);
  return shared;
}

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
