import { printableJson } from "../platform/words.ts";
import { printNotice } from "./print-notice.ts";
import { type Column, textTable } from "./text-table.ts";

/** Prints rows as a table that fits the terminal, or as JSON lines. */
export function printList<Row>(
  rows: readonly Row[],
  { columns, json }: { columns: readonly Column<Row>[]; json: ((row: Row) => unknown) | undefined },
): void {
  if (json !== undefined) {
    for (const row of rows) process.stdout.write(`${printableJson(json(row))}\n`);
    return;
  }
  const { text, leftOut } = textTable(columns, rows, process.stdout.columns);
  process.stdout.write(`${text}\n`);
  if (leftOut.length > 0) {
    const names = leftOut.join(", ").toLowerCase();
    printNotice(`This terminal is too narrow for ${names}; --json shows everything.`);
  }
}
