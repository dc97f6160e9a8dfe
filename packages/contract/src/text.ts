import { z } from "zod";
import { recordWithRule } from "./custom-schemas.ts";

/** Text that both databases can store: without NUL characters and lone surrogates. */
export function storableText() {
  return z.string().check(({ value, issues }) => {
    if (value.isWellFormed() && !value.includes("\0")) return;
    issues.push({
      code: "custom",
      message: "Text must not contain NUL characters or lone surrogates",
      input: value,
    });
  });
}

/**
 * Text of 1 to `maxCharacters` characters, for names. Characters are Unicode code points, as JSON Schema and pydantic
 * count them; zod's own `max` counts UTF-16 units.
 */
export function shortText(maxCharacters: number) {
  return boundedText(maxCharacters).min(1).meta({ maxLength: maxCharacters });
}

/** Lists include descriptions, so they are short. */
export const maxDescriptionCharacters = 10_000;

/** Text of at most `maxCharacters` characters, for descriptions and comments. */
export function boundedText(maxCharacters: number) {
  return storableText()
    .check(({ value, issues }) => {
      if (isWithin(value, maxCharacters)) return;
      issues.push({
        code: "too_big",
        origin: "string",
        maximum: maxCharacters,
        inclusive: true,
        input: value,
      });
    })
    .meta({ maxLength: maxCharacters });
}

/** A character is one or two UTF-16 units, so only texts in between need counting. */
function isWithin(text: string, maxCharacters: number): boolean {
  if (text.length <= maxCharacters) return true;
  return text.length <= 2 * maxCharacters && [...text].length <= maxCharacters;
}

/** An object that is stored as JSON of at most `maxCharacters` characters. */
export function boundedObject(maxCharacters: number, name: string) {
  const message = `${name} may have at most ${maxCharacters} characters of JSON`;
  return recordWithRule(z.string(), z.unknown(), (value) =>
    JSON.stringify(value).length <= maxCharacters ? undefined : { message },
  ).meta({ description: `At most ${maxCharacters} characters of JSON.` });
}

const pattern =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)(?:(?<=:\d\d:\d\d)[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))?)?$/;

/**
 * A date-time of ISO 8601 in a request, in the spellings that pydantic accepts: UTC without an offset, and a date alone means
 * its midnight. Numbers, even as text, are refused.
 */
export function dateTime() {
  return z.stringFormat("datetime", (text) => !Number.isNaN(readInstant(text))).meta({ format: "date-time" });
}

/** A time in responses, with its offset. */
export const instant = z.iso.datetime({ offset: true });

/** A date-time in microseconds since 1970-01-01 UTC; NaN if the text is not one. */
export function readInstant(text: string): number {
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  const [, date = "", time = "00:00", fraction = "", sign = "+", hours = "0", minutes = "0"] = match;
  const localMs = Date.parse(`${date}T${time}Z`);
  // `Date.parse` would take 30 February as 2 March.
  if (Number.isNaN(localMs) || !new Date(localMs).toISOString().startsWith(date)) return Number.NaN;
  const offsetMinutes = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  return (localMs - offsetMinutes * 60_000) * 1_000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}

// Fields with nothing but a description.
export const string = (description: string) => z.string().meta({ description });
export const stringOrNull = (description: string) => z.string().nullable().meta({ description });
export const boolean = (description: string) => z.boolean().meta({ description });
export const booleanOrNull = (description: string) => z.boolean().nullable().meta({ description });
export const count = (description: string) => z.int().meta({ description });
export const countOrNull = (description: string) => z.int().nullable().meta({ description });
export const number = (description: string) => z.number().meta({ description });
/** A figure that is null where there is nothing to compute it from. */
export const figure = (description: string) => z.number().nullable().meta({ description });
