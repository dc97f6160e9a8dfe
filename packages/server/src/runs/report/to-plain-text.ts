/** Controls, and what reverses the direction of a text: they would hide what it says, or end its line. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text on one line, as it can be shown within others. */
export function toLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(hidden, "\ufffd").toWellFormed();
}

/** A text with its lines. */
export function toLines(text: string): string[] {
  return text
    .split(/\r\n|[\n\r]/)
    .map((line) => line.replace(/\t/g, "  ").replace(hidden, "\ufffd").toWellFormed());
}
