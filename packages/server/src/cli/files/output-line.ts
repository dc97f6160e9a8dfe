/** What is written for one line of an input file. */
export interface OutputLine extends Record<string, unknown> {
  /** The input line's number, from 1. */
  line: number;
  /** Of the input line's text, by which a later run sees that the line is still the same. */
  digest: string;
  error?: { category: string; detail: string };
}

/** Tells a line from what it was in an earlier run; nothing depends on its secrecy. */
export function digestOf(text: string): string {
  return Bun.hash(text).toString(16);
}

export function lineId(number: number, digest: string): string {
  return `${number}:${digest}`;
}
