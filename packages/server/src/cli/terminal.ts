import Table from "cli-table3";
import { printableJson } from "../platform/words.ts";
import { printNotice } from "./command.ts";

export interface Column<Row> {
  heading: string;
  text: (row: Row) => string;
  /** Numbers are aligned to the right. */
  align?: "right";
  /** Its cells wrap if the table would be too wide. */
  canWrap?: boolean;
}

/** A column of numbers. */
export function atRight<Row>(heading: string, text: (row: Row) => string): Column<Row> {
  return { heading, text, align: "right" };
}

/** The day of an instant, in UTC. */
export function dayOf(instant: string): string {
  return instant.slice(0, "2026-01-31".length);
}

/** Prints a value as JSON if that is wanted, otherwise in a form for people. */
export function printJsonOr<Value>(json: boolean | undefined, value: Value, print: (value: Value) => void) {
  if (json) process.stdout.write(`${printableJson(value)}\n`);
  else print(value);
}

interface TextTable {
  text: string;
  /** Headings of the columns that did not fit. */
  leftOut: string[];
}

const gap = 2;
/** Names up to this length are not broken. */
const maxUnbroken = 30;

/**
 * Rows under headings, without lines, at most `width` wide: cells are wrapped first, then columns are left out from the end. The
 * first column is always kept.
 */
export function textTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): TextTable {
  const natural = columns.map(({ heading, text }) => widest([heading, ...rows.map(text)]));
  const longestWords = columns.map(({ heading, text }) =>
    widest([heading, ...rows.map(text)].flatMap((cell) => cell.split(" "))),
  );
  const least = columns.map(({ canWrap }, index) => {
    const wanted = natural[index] ?? 0;
    return canWrap ? Math.min(wanted, maxUnbroken, longestWords[index] ?? 0) : wanted;
  });
  const count = Math.max(1, countFitting(least, width));
  const widths = widen(least.slice(0, count), natural, width);
  const shown = columns.slice(0, count);
  const table = new Table({
    chars: noLines,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    head: shown.map(({ heading }) => heading),
    colWidths: widths,
    colAligns: shown.map(({ align }) => align ?? "left"),
  });
  for (const row of rows) {
    table.push(shown.map(({ text }, index) => Bun.wrapAnsi(text(row), widths[index] ?? 0, { hard: true })));
  }
  const text = table.toString().replaceAll(/ +$/gm, "");
  return { text, leftOut: columns.slice(count).map(({ heading }) => heading) };
}

/** Reduced, because a call cannot take as many arguments as there may be rows. */
function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, Bun.stringWidth(text)), 0);
}

/** How many of the first columns fit next to each other. */
function countFitting(widths: readonly number[], width: number): number {
  const fitting = widths.findIndex((_, index) => totalWidth(widths.slice(0, index + 1)) > width);
  return fitting === -1 ? widths.length : fitting;
}

/** Gives the remaining room to the columns that want more, in their order. */
function widen(least: readonly number[], natural: readonly number[], width: number): number[] {
  let room = width - totalWidth(least);
  return least.map((minimum, index) => {
    const more = Math.max(0, Math.min(room, (natural[index] ?? minimum) - minimum));
    room -= more;
    return minimum + more;
  });
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1);
}

const noLines = {
  ...Object.fromEntries(
    ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"].map(
      (name) => [name, ""],
    ),
  ),
  ...Object.fromEntries(
    ["left", "left-mid", "mid", "mid-mid", "right", "right-mid"].map((name) => [name, ""]),
  ),
  middle: " ".repeat(gap),
};

interface ListOptions<Row> {
  columns: readonly Column<Row>[];
  /** Whether to print JSON lines instead of a table. */
  json: boolean | undefined;
  /** What a row's JSON line contains; absent: the row itself. */
  toJson?: (row: Row) => unknown;
}

/** Prints rows as a table that fits the terminal, or as JSON lines. */
export function printList<Row>(
  rows: readonly Row[],
  { columns, json, toJson = (row) => row }: ListOptions<Row>,
): void {
  if (json) {
    for (const row of rows) process.stdout.write(`${printableJson(toJson(row))}\n`);
    return;
  }
  const { text, leftOut } = textTable(columns, rows, process.stdout.columns);
  process.stdout.write(`${text}\n`);
  if (leftOut.length > 0) {
    const names = leftOut.join(", ").toLowerCase();
    printNotice(`This terminal is too narrow for ${names}; --json shows everything.`);
  }
}
