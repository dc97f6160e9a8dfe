// Compares two texts by lines, and lines that differ by words.

import { diffArrays, diffWordsWithSpace } from "diff";
import { findJson, jsonLines } from "../untrusted-text/json-lines.ts";
import { cutBefore } from "../untrusted-text/text-ranges.ts";

export type Difference =
  | { kind: "equal" }
  | { kind: "too-large" }
  /** `paths` has the JSON path of each row. */
  | { kind: "rows"; rows: DifferenceRow[]; paths?: string[] };

export function compareAsText(before: string, after: string): Difference {
  if (before === after) return { kind: "equal" };
  return toDifference(compareLines(linesOf(before), linesOf(after)));
}

/** Ignores formatting, the order of keys and the notation of numbers. Undefined unless both are JSON. */
export function compareAsJson(before: string, after: string): Difference | undefined {
  const [one, other] = [findJson(before), findJson(after)];
  if (one === undefined || other === undefined) return undefined;
  const [oneLines, otherLines] = [jsonLines(one, true), jsonLines(other, true)];
  const texts = [oneLines, otherLines].map((lines) => lines.map(({ text }) => text));
  const rows = compareLines(texts[0] ?? [], texts[1] ?? [], isSameButComma);
  if (rows?.every(({ kind }) => kind === "equal")) return { kind: "equal" };
  const paths = rows?.map((row) => {
    if (row.kind === "equal") return otherLines[row.after - 1]?.path ?? "";
    const line =
      row.after === undefined ? oneLines[(row.before?.line ?? 0) - 1] : otherLines[row.after.line - 1];
    return line?.path ?? "";
  });
  const difference = toDifference(rows);
  return difference.kind === "rows" && paths ? { ...difference, paths } : difference;
}

function toDifference(rows: DifferenceRow[] | undefined): Difference {
  return rows === undefined ? { kind: "too-large" } : { kind: "rows", rows };
}

function linesOf(text: string): string[] {
  return text.split("\n");
}

/** A trailing comma is not a difference. */
function isSameButComma(one: string, other: string): boolean {
  if (one.length === other.length) return one === other;
  return one.length > other.length ? one === `${other},` : other === `${one},`;
}

export interface ComparedLine {
  /** The line number, from 1. */
  line: number;
  parts: LinePart[];
}

/** An equal line, or a changed, added or removed one. */
export type DifferenceRow =
  | { kind: "equal"; before: number; after: number; parts: LinePart[] }
  | { kind: "changed"; before?: ComparedLine; after?: ComparedLine };

const linesBudgetMs = 150;
const wordsBudgetMs = 100;
const maxEdits = 4_000;

/** Undefined if the texts differ too much to compare them in time. */
function compareLines(
  before: readonly string[],
  after: readonly string[],
  isSame: (one: string, other: string) => boolean = Object.is,
): DifferenceRow[] | undefined {
  const changes = diffArrays([...before], [...after], {
    timeout: linesBudgetMs,
    maxEditLength: maxEdits,
    comparator: isSame,
  });
  if (changes === undefined) return undefined;
  const wordsUntilMs = performance.now() + wordsBudgetMs;
  const rows: DifferenceRow[] = [];
  let beforeLine = 1;
  let afterLine = 1;
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index];
    if (change === undefined) break;
    if (!change.added && !change.removed) {
      for (const text of change.value) {
        rows.push({
          kind: "equal",
          before: beforeLine++,
          after: afterLine++,
          parts: shorten([linePart(text)]),
        });
      }
      continue;
    }
    const next = changes[index + 1];
    // Removed lines are followed by the lines that replace them.
    const isPair = change.removed && next?.added === true;
    const removed = change.removed ? change.value : [];
    const added = isPair ? next.value : change.added ? change.value : [];
    if (isPair) index += 1;
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push(toRow(removed[index], added[index]));
    }
  }
  return rows;

  function toRow(before: string | undefined, after: string | undefined): DifferenceRow {
    if (before !== undefined && after !== undefined) {
      const compared = compareWords(before, after, wordsUntilMs - performance.now());
      return {
        kind: "changed",
        before: { line: beforeLine++, parts: compared.before },
        after: { line: afterLine++, parts: compared.after },
      };
    }
    if (before !== undefined) {
      return { kind: "changed", before: { line: beforeLine++, parts: shorten([linePart(before, true)]) } };
    }
    return {
      kind: "changed",
      after: { line: afterLine++, parts: shorten([linePart(after ?? "", true)]) },
    };
  }
}

interface ComparedLines {
  before: LinePart[];
  after: LinePart[];
}

/** In longer lines, only the middle between equal ends is compared. */
const longLine = 2_000;
const maxMiddle = 20_000;

/** Lines with less in common are replaced as a whole. */
const minInCommon = 0.2;

/** Compares two lines by words. */
function compareWords(before: string, after: string, budgetMs: number): ComparedLines {
  const isLong = before.length + after.length > longLine;
  const start = isLong ? equalBeginning(before, after) : 0;
  const tail = isLong ? equalEnd(before, after, start) : 0;
  const middleBefore = before.slice(start, before.length - tail);
  const middleAfter = after.slice(start, after.length - tail);
  const middle = compareMiddles(middleBefore, middleAfter, budgetMs);
  const beginning = linePart(before.slice(0, start));
  const end = linePart(before.slice(before.length - tail));
  return {
    before: shorten([beginning, ...middle.before, end]),
    after: shorten([beginning, ...middle.after, end]),
  };
}

function compareMiddles(before: string, after: string, budgetMs: number): ComparedLines {
  const whole = { before: [linePart(before, true)], after: [linePart(after, true)] };
  if (budgetMs <= 0 || before.length + after.length > maxMiddle) return whole;
  const changes = diffWordsWithSpace(before, after, { timeout: budgetMs, maxEditLength: 1_000 });
  if (changes === undefined) return whole;
  const common = changes.filter(({ added, removed }) => !added && !removed);
  const inCommon = common.reduce((length, { value }) => length + value.trim().length, 0);
  if (inCommon < minInCommon * Math.max(before.length, after.length)) return whole;
  return {
    before: changes.filter(({ added }) => !added).map(({ value, removed }) => linePart(value, removed)),
    after: changes.filter(({ removed }) => !removed).map(({ value, added }) => linePart(value, added)),
  };
}

function equalBeginning(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return wordStart(one, cutBefore(one, length));
}

function equalEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start;
  let length = 0;
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  ) {
    length += 1;
  }
  return one.length - wordEnd(one, one.length - length);
}

const maxWord = 60;

/** The start of the word around an index, so that words stay whole. */
function wordStart(text: string, index: number): number {
  const near = /\w*$/.exec(text.slice(Math.max(0, index - maxWord), index));
  return index - (near?.[0].length ?? 0);
}

function wordEnd(text: string, index: number): number {
  const near = /^[\w\udc00-\udfff]*/.exec(text.slice(index, index + maxWord));
  return index + (near?.[0].length ?? 0);
}

/** A part of a compared line. */
export interface LinePart {
  text: string;
  isChanged: boolean;
  /** The number of characters left out after the text. */
  omitted: number;
}

/** How many characters are kept at each end of an equal part, and of a changed part. */
const keptEnd = 120;
const maxChange = 4_000;

function linePart(text: string, isChanged = false): LinePart {
  return { text, isChanged, omitted: 0 };
}

/** Shortens long parts. */
function shorten(parts: readonly LinePart[]): LinePart[] {
  return parts.filter(({ text }) => text !== "").flatMap(shortenOne);
}

function shortenOne(whole: LinePart): LinePart[] {
  const { text, isChanged } = whole;
  if (isChanged) {
    if (text.length <= maxChange) return [whole];
    const end = cutBefore(text, maxChange);
    return [{ text: text.slice(0, end), isChanged, omitted: text.length - end }];
  }
  if (text.length <= 3 * keptEnd) return [whole];
  const end = cutBefore(text, keptEnd);
  const start = cutBefore(text, text.length - keptEnd);
  return [{ text: text.slice(0, end), isChanged, omitted: start - end }, linePart(text.slice(start))];
}
