import type { Range } from "./code-unit-ranges.ts";
import { cutBefore } from "./cut-before.ts";

/** A line, or a part of a very long one. */
export interface TextRow extends Range {
  /** From 1; absent for later parts of a line. */
  line?: number;
}

/** Longer lines are split, so that the browser lays out only what it shows. */
const maxRow = 1_000;

export function textRows(text: string): TextRow[] {
  const rows: TextRow[] = [];
  let line = 0;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    line += 1;
    pushLine(rows, text, { start, end, line });
    start = end + 1;
  }
  return rows;
}

function pushLine(rows: TextRow[], text: string, { start, end, line }: Required<TextRow>): void {
  let from = start;
  while (end - from > maxRow) {
    const cut = cutBefore(text, from + maxRow);
    rows.push(from === start ? { start: from, end: cut, line } : { start: from, end: cut });
    from = cut;
  }
  rows.push(from === start ? { start: from, end, line } : { start: from, end });
}
