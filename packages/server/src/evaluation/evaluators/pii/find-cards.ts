import isCreditCard from "validator/lib/isCreditCard.js";
import type { Finding } from "./finding.ts";

/** 12 to 19 digits, alone or in groups; no part of a longer number, a word or a decimal. */
const candidate = /(?<![\w.-])\d(?:[ -]?\d){11,18}(?![\w-]|\.\d)/g;

/** Numbers of the known issuers' form with a right check digit (Luhn). */
export function findCards(text: string): Finding[] {
  return Array.from(text.matchAll(candidate))
    .filter(([digits]) => isCreditCard(digits))
    .map(({ 0: digits, index }) => ({ kind: "card", start: index, end: index + digits.length }));
}
