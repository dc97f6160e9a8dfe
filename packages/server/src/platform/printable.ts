/** Escapes control characters: texts of users, models and other servers must not control the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** A value as one line of JSON without characters that control the terminal. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** A text in quotes, with control characters escaped. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text));
}
