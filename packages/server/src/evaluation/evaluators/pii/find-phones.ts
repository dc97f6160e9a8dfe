import type { CountryCode } from "libphonenumber-js/max";
import { phoneLibrary } from "../../lazy-libraries.ts";
import type { PiiMatch } from "./pii-match.ts";

/** Numbers with their country's code; without it only where a country is assumed. */
export function findPhones(text: string, defaultCountry: CountryCode | undefined): PiiMatch[] {
  const options = defaultCountry === undefined ? {} : { defaultCountry };
  return Array.from(phoneLibrary().searchPhoneNumbersInText(text, options), ({ startsAt, endsAt }) => ({
    kind: "phone",
    start: startsAt,
    end: endsAt,
  }));
}
