import type { CellValue, DataColumn } from "./data-column.ts";

type Column<Row> = Pick<DataColumn<Row>, "label" | "value" | "isNumber">;

/** For spreadsheets: one line a row, cells separated by tabs. */
export function writeTabSeparated<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return cellsOf(columns, rows)
    .map((cells) => cells.map(plain).join("\t"))
    .join("\n");
}

/** For notes and pull requests. */
export function writeMarkdown<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const [head = [], ...body] = cellsOf(columns, rows);
  const rule = columns.map(({ isNumber = false }) => (isNumber ? "--:" : ":--"));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(head.map(escapeMarkdown)),
    line(rule),
    ...body.map((cells) => line(cells.map(escapeMarkdown))),
  ].join("\n");
}

function cellsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  return [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map(({ value }) => textOf(value?.(row)))),
  ];
}

function textOf(value: CellValue): string {
  return value === null || value === undefined ? "" : String(value);
}

/** A spreadsheet takes a cell that begins like a formula for one: models must not be able to write any. */
function plain(text: string): string {
  const oneLine = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+\-@]/.test(oneLine) && Number.isNaN(Number(oneLine)) ? `'${oneLine}` : oneLine;
}

/** A reference to a character is never markup, unlike a backslash, which another one before it takes away. A "<" before a space is none. */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\t\r\n]+/g, " ")
    .replace(/<(?! )|[&>|`*[\]\\~]|(?<!\w)_|_(?!\w)/g, (character) => `&#${character.charCodeAt(0)};`);
}
