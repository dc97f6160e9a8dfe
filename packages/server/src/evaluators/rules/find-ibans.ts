import { electronicFormatIBAN, getCountrySpecifications, isValidIBAN } from "ibantools";
import type { PiiMatch } from "./pii-match.ts";

const beginning = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?=[ A-Z0-9])/g;
const body = /[A-Z0-9](?: ?[A-Z0-9])*/y;
/** The longest has 34 characters, written in groups of four. */
const maxIbanLength = 42;

/** With the length and form of their country and a valid check digit. */
export function findIbans(text: string): PiiMatch[] {
  const specifications = getCountrySpecifications();
  const matches: PiiMatch[] = [];
  for (const { 0: head, index } of text.matchAll(beginning)) {
    const wantedLength = specifications[head.slice(0, 2)]?.chars;
    if (typeof wantedLength !== "number") continue;
    const nearby = text.slice(index, index + maxIbanLength + 1);
    body.lastIndex = 0;
    const written = takeCharacters(body.exec(nearby)?.[0] ?? "", wantedLength);
    const next = text[index + written.length] ?? "";
    if (/[A-Za-z0-9]/.test(next) || !isValidIBAN(electronicFormatIBAN(written) ?? "")) continue;
    matches.push({ kind: "iban", start: index, end: index + written.length });
  }
  return matches;
}

/** The beginning of a text with this many characters other than spaces. */
function takeCharacters(text: string, count: number): string {
  let taken = 0;
  let length = 0;
  while (length < text.length && taken < count) {
    if (text[length] !== " ") taken += 1;
    length += 1;
  }
  return text.slice(0, length);
}
