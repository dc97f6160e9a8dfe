import { writeTabSeparated } from "../../data-table/write-table.ts";

/** The figures of a chart. Numbers are copied as they are, and shown as the chart shows them. */
export interface FiguresTable {
  header: readonly string[];
  rows: readonly FiguresRow[];
}

export interface FiguresRow {
  name: string;
  cells: readonly (number | string | null | undefined)[];
}

/** Tab-separated, which spreadsheets and documents paste as a table. */
export function copyableTable({ header, rows }: FiguresTable): string {
  const columns = header.map((label, index) => ({
    label,
    value: ({ name, cells }: FiguresRow) => (index === 0 ? name : cells[index - 1]),
  }));
  return writeTabSeparated(columns, rows);
}
