import isCreditCard from "validator/lib/isCreditCard.js";
import type { PiiMatch } from "./pii-match.ts";

/** Digits, alone or in groups, not part of a word or a decimal. Longer rows are lists of numbers. */
const rowOfDigits = /(?<![\w.-])\d+(?:[ -]\d+){0,30}(?![\w-]|\.\d)/g;
/** Beside a card number, a group this small is an expiry date or an amount. */
const smallGroup = /\b\d{1,2}\b/;
/** 12 digits together, and 19 in groups of three. */
const minWrittenLength = 12;
const maxCardLength = 25;

/** Numbers in the form of a known issuer with a valid check digit (Luhn). */
export function findCards(text: string): PiiMatch[] {
  return Array.from(text.matchAll(rowOfDigits)).flatMap(({ 0: written, index }) =>
    isCreditCard(written)
      ? { kind: "card" as const, start: index, end: index + written.length }
      : findAmongGroups(written, index),
  );
}

function findAmongGroups(written: string, at: number): PiiMatch[] {
  const groups = Array.from(written.matchAll(/\d+/g), ({ 0: digits, index }) => ({
    start: index,
    end: index + digits.length,
  }));
  const matches: PiiMatch[] = [];
  let taken = 0;
  for (const { start } of groups) {
    if (start < taken) continue;
    const last = groups.findLast(({ end }) => isGrouped(written, start, end));
    if (last === undefined) continue;
    matches.push({ kind: "card", start: at + start, end: at + last.end });
    taken = last.end;
  }
  return matches;
}

function isGrouped(row: string, start: number, end: number): boolean {
  if (end - start < minWrittenLength || end - start > maxCardLength) return false;
  const written = row.slice(start, end);
  return !smallGroup.test(written) && isCreditCard(written);
}
