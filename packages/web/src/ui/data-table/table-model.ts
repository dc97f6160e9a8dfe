import { type LinkProps, useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { inPlace } from "../../search-params.ts";
import { compareValues, type DataColumn } from "./columns.ts";
import type { TableView } from "./table-view.ts";

/** The ids of the rows that are chosen with checkboxes. */
interface RowSelection {
  ids: readonly string[];
  onChange(ids: string[]): void;
  /** The greatest number of chosen rows. */
  max?: number;
}

interface Entry<RowData> {
  id: string;
  row: RowData;
}

interface DataTableOptions<RowData> {
  /** What the table lists, for screen readers. */
  label: string;
  view: TableView;
  /** Stable between renders. */
  columns: readonly DataColumn<RowData>[];
  /** Undefined while loading. Stable between renders. */
  rows: readonly RowData[] | undefined;
  rowId(row: RowData): string;
  /** The name of a row, for screen readers and tooltips. */
  rowName(row: RowData): string;
  /** The address that a row leads to. */
  link?: ((row: RowData) => LinkProps) | undefined;
  /** Whether the link opens a drawer on this page. */
  hasDrawer?: boolean;
  /** The row whose drawer is open. */
  openId?: string | undefined;
  selection?: RowSelection | undefined;
  /** The heading that rows are grouped under, at the place of the group's first row. Stable between renders. */
  groupOf?(row: RowData): string;
  /** Columns that are left out if there is not enough room, in this order. */
  spare?: readonly string[];
  /** How many rows are printed, with their cells stacked. Absent: all, in columns. */
  onPaper?: number;
  /** `server`: the rows come in the order of `view.sort`. */
  sorting?: "client" | "server";
  /** J and K move in this table, wherever the focus is. At most one table on a page. */
  isMain?: boolean;
}

export interface DataTableModel<RowData> extends DataTableOptions<RowData> {
  /** The visible columns. */
  shownColumns: readonly DataColumn<RowData>[];
  /** The rows in the order shown. */
  sortedRows: readonly Entry<RowData>[];
  /** The row that has the focus, or had it last. */
  activeId: string | undefined;
  activate(id: string): void;
  indexOf(id: string | undefined): number | undefined;
  /** Moves the focus to another row, or opens that row if a drawer is open. */
  step(by: number): void;
  isSortable(column: DataColumn<RowData>): boolean;
  toggleSort(column: DataColumn<RowData>): void;
  toggleSelected(id: string): void;
  canSelect(id: string): boolean;
  /** For a drawer's `onCloseAutoFocus`: moves the focus to the row that was open. */
  takeFocusBack(event: Event): void;
  scroller: React.RefObject<HTMLDivElement | null>;
}

/** A table's rows, columns, sort, selection and keyboard, for `DataTable` and `TableTools`. */
export function useDataTable<RowData>(options: DataTableOptions<RowData>): DataTableModel<RowData> {
  const { columns, groupOf, link, openId, rowId, selection, sorting = "client", view } = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of ids is a new one on each render
  const given = useMemo(
    () => ({ rows: options.rows, shownColumns: columns.filter(({ id }) => view.columnIds.includes(id)) }),
    [options.rows, columns, view.columnIds.join()],
  );
  // Many rows are drawn in small tasks, together with what depends on them.
  const { rows, shownColumns } = useDeferredValue(given);
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const [lastId, setLastId] = useState<string>();
  if (openId !== undefined && openId !== lastId) setLastId(openId);

  // The ids belong to the same rows, even if the function is a new one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const entries = useMemo(() => (rows ?? []).map((row) => ({ id: rowId(row), row })), [rows]);
  const sorted = sorting === "client" ? columns.find(({ id }) => id === view.sort?.id) : undefined;
  const isDescending = view.sort?.isDescending === true;
  const sortedRows = useMemo(() => {
    const all = sortEntries(entries, sorted, isDescending);
    return groupOf === undefined ? all : [...Map.groupBy(all, ({ row }) => groupOf(row)).values()].flat();
  }, [entries, sorted, isDescending, groupOf]);
  const indexes = useMemo(() => new Map(sortedRows.map(({ id }, index) => [id, index])), [sortedRows]);
  const activeId = openId ?? (lastId !== undefined && indexes.has(lastId) ? lastId : sortedRows[0]?.id);

  function isSortable({ isSortable, value }: DataColumn<RowData>): boolean {
    return isSortable ?? (sorting === "client" && value !== undefined);
  }

  return {
    ...options,
    rows,
    shownColumns,
    sortedRows,
    activeId,
    activate: setLastId,
    indexOf: (id) => (id === undefined ? undefined : indexes.get(id)),
    step(by) {
      const index = activeId === undefined ? undefined : indexes.get(activeId);
      // The first key press only shows the current row.
      const isHere = openId !== undefined || hasFocus(scroller.current);
      const wanted = isHere ? (index ?? -1) + by : (index ?? 0);
      const next = sortedRows[Math.min(sortedRows.length - 1, Math.max(0, wanted))];
      if (next === undefined) return;
      setLastId(next.id);
      if (openId !== undefined && link !== undefined) {
        // Moving between rows adds nothing to the browser's history.
        void navigate({ ...link(next.row), ...inPlace });
      } else {
        focusRow(scroller.current, next.id);
      }
    },
    isSortable,
    toggleSort(column) {
      if (!isSortable(column)) return;
      const first = column.isNumber === true || column.isNewestFirst === true;
      const current = view.sort?.id === column.id ? view.sort.isDescending : undefined;
      if (current === undefined) view.changeSort({ id: column.id, isDescending: first });
      else view.changeSort(current === first ? { id: column.id, isDescending: !first } : undefined);
    },
    toggleSelected(id) {
      const ids = selection?.ids ?? [];
      selection?.onChange(ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]);
    },
    canSelect: (id) =>
      selection !== undefined &&
      (selection.ids.includes(id) || selection.ids.length < (selection.max ?? Number.POSITIVE_INFINITY)),
    takeFocusBack(event) {
      event.preventDefault();
      if (activeId !== undefined) focusRow(scroller.current, activeId);
    },
    scroller,
  };
}

/** Sorts by a column and keeps the order of equal entries. Absent values are last in both directions. */
function sortEntries<RowData>(
  entries: readonly Entry<RowData>[],
  column: DataColumn<RowData> | undefined,
  isDescending: boolean,
): readonly Entry<RowData>[] {
  const value = column?.value;
  if (value === undefined) return entries;
  const direction = isDescending ? -1 : 1;
  return entries.toSorted((one, other) => {
    const [a, b] = [value(one.row), value(other.row)];
    if (a == null || b == null) return Number(a == null) - Number(b == null);
    return direction * compareValues(a, b);
  });
}

function hasFocus(scroller: HTMLElement | null): boolean {
  return document.activeElement?.closest("[data-row]")?.closest("[data-table]") === scroller;
}

const maxFrames = 20;

/** Focuses a row's link, or the row if it leads nowhere. A virtual row is rendered some frames after scrolling to it. */
function focusRow(scroller: HTMLElement | null, id: string, frame = 0): void {
  requestAnimationFrame(() => {
    const row = scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
    if (row) (row.querySelector<HTMLElement>("[data-row-link]") ?? row).focus();
    else if (frame < maxFrames) focusRow(scroller, id, frame + 1);
  });
}
