import type { CountryCode } from "libphonenumber-js/max";
import isEmail from "validator/lib/isEmail.js";
import { defined } from "./words.ts";

/** The rules for all countries' phone numbers, 8 MB, loaded on first use. */
export function phoneLibrary(): typeof import("libphonenumber-js/max") {
  return require("libphonenumber-js/max");
}

/** A stretch of a text, in UTF-16 units. */
export interface Stretch {
  start: number;
  end: number;
}

/** RFC 5321 allows 64 characters before the `@` and 255 after it. */
const maxLocalLength = 64;
const maxDomainLength = 255;
/** Up to the last character of a script written without spaces, which may end a sentence, or up to an emoji. */
const unspaced =
  /^.*[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{Extended_Pictographic}\p{Emoji_Presentation}\uff01-\uff0f\uff1a-\uff20]/su;
const localEnd = /[^\s<>()[\]{},;:"'`|\\=/@\p{Cs}]+$/u;
/** The part of an address that is left where a symbol or another alphabet comes right before it. */
const alphabeticEnd =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}\p{N}_.%+&-]+$/u;
const leading = /^[^\p{L}\p{N}_]+/u;
const domainStart = /^[\p{L}\p{N}.-]+/u;

/** Finds e-mail addresses. Looks at a bounded stretch on both sides of each `@`, so it takes linear time. */
export function findEmails(text: string): Stretch[] {
  const found: Stretch[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const domain = domainStart
      .exec(text.slice(at + 1, at + 1 + maxDomainLength))?.[0]
      .replace(/[.-]{1,255}$/, "");
    if (domain === undefined) continue;
    const before = text.slice(Math.max(0, at - maxLocalLength), at);
    const whole = localEnd.exec(before)?.[0] ?? "";
    const afterSymbol = alphabeticEnd.exec(whole)?.[0] ?? "";
    const local = [
      whole.replace(unspaced, "").replace(leading, ""),
      whole,
      afterSymbol.replace(leading, ""),
    ].find((form) => isEmail(`${form}@${domain}`));
    if (local === undefined) continue;
    found.push({ start: at - local.length, end: at + 1 + domain.length });
  }
  return found;
}

/** The sign before a country code. */
const plus = /[+\uff0b]/;

export function mayHavePhones(text: string, defaultCountry?: CountryCode): boolean {
  return defaultCountry !== undefined || plus.test(text);
}

/** Finds phone numbers with a country code; without a country code only if there is a default country. */
export function findPhones(text: string, defaultCountry?: CountryCode): Stretch[] {
  if (!mayHavePhones(text, defaultCountry)) return [];
  return Array.from(
    phoneLibrary().searchPhoneNumbersInText(text, defined({ defaultCountry })),
    ({ startsAt, endsAt }) => ({ start: startsAt, end: endsAt }),
  );
}
