import { z } from "zod";

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
  const error = `${name} may have at most ${maxCharacters} characters of JSON`;
  return z
    .record(z.string(), z.unknown())
    .refine((value) => JSON.stringify(value).length <= maxCharacters, { error })
    .meta({ description: `At most ${maxCharacters} characters of JSON.` });
}
