import type { ReactNode } from "react";

export type CellValue = string | number | boolean | null | undefined;

/** A column of a `DataTable`. Keep the list of columns stable between renders. */
export interface DataColumn<Row> {
  /** Stands in the address and in the browser's memory: letters, digits, `_` and `-`. */
  id: string;
  label: string;
  /** What the figures are, shown on hover and on focus. */
  hint?: string;
  /** What it is sorted by, and copied as. */
  value?(row: Row): CellValue;
  /** Absent: shows `value`. Links in it have the row's `tabIndex`: Tab goes to one row and then past the table. */
  cell?(row: Row, tabIndex: number): ReactNode;
  /** Aligned to the right; sorted from the greatest first. */
  isNumber?: boolean;
  /** Also sorted from the greatest first: times. */
  isNewestFirst?: boolean;
  /** Absent: with client-side sorting each column that has a `value` can be sorted. */
  isSortable?: boolean;
  widthPx: number;
  /** Takes the width that is left; `widthPx` is its least. */
  isElastic?: boolean;
  /** Hidden by default. */
  isExtra?: boolean;
  /** Hidden on narrow screens by default. */
  isWideOnly?: boolean;
  /** Cannot be removed. */
  isFixed?: boolean;
  /** Has no label that is seen, and is not copied: buttons. */
  isActions?: boolean;
}

/** The default columns. */
export function defaultColumnIds<Row>(columns: readonly DataColumn<Row>[], isNarrow: boolean): string[] {
  return columns
    .filter(({ isExtra = false, isWideOnly = false }) => !isExtra && !(isNarrow && isWideOnly))
    .map(({ id }) => id);
}
