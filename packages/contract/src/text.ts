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
  return storableText()
    .min(1)
    .check(({ value, issues }) => {
      // Characters are only counted where it may matter: each is one UTF-16 unit or two.
      if (value.length <= maxCharacters) return;
      if (value.length <= 2 * maxCharacters && [...value].length <= maxCharacters) return;
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
