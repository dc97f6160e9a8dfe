// The columns of a table: what they show, how they are compared, and how they are copied.

import type { ReactNode } from "react";

type CellValue = string | number | boolean | null | undefined;

/** A column of a `DataTable`. Keep the list of columns stable between renders. */
export interface DataColumn<Row> {
  /** Used in the address and in the browser's memory: letters, digits, `_` and `-`. */
  id: string;
  label: string;
  /** What the figures are, shown on hover and on focus. */
  hint?: string;
  /** The value to sort by, and to copy. */
  value?(row: Row): CellValue;
  /** Absent: shows `value`; numbers with separators, times as the time of day, or the date after a day. */
  cell?(row: Row): ReactNode;
  /** Aligned to the right, and sorted from the greatest first. */
  isNumber?: boolean;
  /** Its values are times. */
  isNewestFirst?: boolean;
  /** Absent: with client-side sorting each column that has a `value` can be sorted. */
  isSortable?: boolean;
  widthPx: number;
  /** Takes the remaining width, and at least `widthPx`. */
  isElastic?: boolean;
  /** Hidden by default. */
  isExtra?: boolean;
  /** Cannot be removed. */
  isFixed?: boolean;
  /** Its values say by themselves what they are, so that a phone shows no label. */
  isPlain?: boolean;
  /** For buttons: the label is not visible, and the column is not copied. */
  isActions?: boolean;
}

/** The default columns. */
export function defaultColumnIds<Row>(columns: readonly DataColumn<Row>[]): string[] {
  return columns.filter(({ isExtra = false }) => !isExtra).map(({ id }) => id);
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compares numbers by size, texts as people count: `run 2` is before `run 10`. Absent values are left to the caller. */
export function compareValues(one: CellValue, other: CellValue): number {
  if (typeof one === "string" && typeof other === "string") return collator.compare(one, other);
  return Number(one) - Number(other);
}

type Column<Row> = Pick<DataColumn<Row>, "label" | "value" | "isNumber">;

/** The content of a table, for copying and saving. */
export interface Copied<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}

/** For spreadsheets: one line per row, cells separated by tabs. */
export function writeTabSeparated<Row>(copied: Copied<Row>): string {
  return recordsOf(copied)
    .map((cells) => cells.map(plainCell).join("\t"))
    .join("\n");
}

/** For notes and pull requests. */
export function writeMarkdown<Row>(copied: Copied<Row>): string {
  const [head = [], ...body] = recordsOf(copied);
  const rule = copied.columns.map(({ isNumber = false }) => (isNumber ? "--:" : ":--"));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(head.map(escapeMarkdown)),
    line(rule),
    ...body.map((cells) => line(cells.map(escapeMarkdown))),
  ].join("\n");
}

/** The labels, then the values of each row, as texts. */
export function recordsOf<Row>({ columns, rows }: Copied<Row>): string[][] {
  return [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map(({ value }) => textOf(value?.(row)))),
  ];
}

function textOf(value: CellValue): string {
  return value === null || value === undefined ? "" : String(value);
}

/** Spreadsheets run cells that begin like a formula, and models must not be able to write any. */
export function plainCell(text: string): string {
  const oneLine = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+\-@]/.test(oneLine) && Number.isNaN(Number(oneLine)) ? `'${oneLine}` : oneLine;
}

/** Character references are never markup; a backslash would be undone by one before it. A "<" before a space is no markup. */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, " ")
    .replace(/<(?! )|[&>|`*[\]\\~]|(?<!\w)_|_(?!\w)/g, (character) => `&#${character.charCodeAt(0)};`);
}
