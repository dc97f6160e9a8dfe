/** The part of a text up to `maxCharacters` as every database stores it: none accepts NUL, nor half of a surrogate pair. */
export function toStorableText(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  const part = text.length > maxCharacters ? text.slice(0, maxCharacters) : text;
  return part.toWellFormed().replaceAll("\0", "\ufffd");
}
