import { z } from "zod";

/** Text that every database can hold: it has no NUL character and no half of a surrogate pair. */
export function storableText() {
  return z.string().check(({ value, issues }) => {
    if (value.isWellFormed() && !value.includes("\0")) return;
    issues.push({
      code: "custom",
      message: "Text cannot hold NUL characters or halves of surrogate pairs",
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

/** Descriptions are listed with everything that they describe. */
export const maxDescriptionCharacters = 10_000;

/** Text of at most `maxCharacters` characters, for what people write: descriptions, comments. */
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

/** A character has one unit or two, so that only texts in between must be counted. */
function isWithin(text: string, maxCharacters: number): boolean {
  if (text.length <= maxCharacters) return true;
  return text.length <= 2 * maxCharacters && [...text].length <= maxCharacters;
}

/** An object that is kept as JSON of at most `maxCharacters` characters. */
export function boundedObject(maxCharacters: number, name: string) {
  const error = `${name} has at most ${maxCharacters} characters of JSON`;
  return z
    .record(z.string(), z.unknown())
    .refine((value) => JSON.stringify(value).length <= maxCharacters, { error })
    .meta({ description: `At most ${maxCharacters} characters of JSON.` });
}
