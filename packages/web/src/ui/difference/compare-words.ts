import { diffWordsWithSpace } from "diff";
import { cutBefore } from "../untrusted-text/cut-before.ts";
import { type LinePart, linePart, shorten } from "./line-part.ts";

export interface ComparedLines {
  before: LinePart[];
  after: LinePart[];
}

/** Of longer lines, only the middle between equal ends is compared. */
const longLine = 2_000;
const maxMiddle = 20_000;
/** Lines with less in common are replaced as a whole. */
const minInCommon = 0.2;

/** Compares two lines by words. */
export function compareWords(before: string, after: string, budgetMs: number): ComparedLines {
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
