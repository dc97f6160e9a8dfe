import { clsx } from "clsx";
import {
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
} from "react";
import { useNarrow, usePrinting, useSize } from "../screen.ts";
import { useShortcut } from "../shortcuts.tsx";
import { SkeletonTableRows } from "../skeleton.tsx";
import { InlineText } from "../untrusted-text/inline-text.tsx";
import { DataHeader } from "./data-header.tsx";
import { DataRow } from "./data-row.tsx";
import type { DataTableModel } from "./table-model.ts";

export interface TableFrameProps<Row> {
  table: DataTableModel<Row>;
  /** The number of placeholder rows while loading. */
  expectedRows?: number;
  /** Takes the height of its parent, a flex column, instead of the height of its rows. */
  isFull?: boolean;
  /** Below the last row. */
  end?: ReactNode;
  /** Called when the last row comes near. If given, there are more rows than are loaded. */
  onNearEnd?: (() => void) | undefined;
}

const selectionWidthPx = 44;
const shortcutGroup = "Tables";

const steps: Record<string, number> = {
  j: 1,
  k: -1,
  ArrowDown: 1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

const sidewaySteps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** The elements of a row that can take the focus, and the row itself if it leads nowhere. */
function stopsOf(row: Element | null | undefined): HTMLElement[] {
  if (row == null) return [];
  const within = row.querySelectorAll<HTMLElement>("a[href], button, input, select, [tabindex]");
  return [...(row instanceof HTMLElement && row.hasAttribute("tabindex") ? [row] : []), ...within];
}

function focusBeside(from: EventTarget, by: number): void {
  if (!(from instanceof HTMLElement)) return;
  const stops = stopsOf(from.closest("tr"));
  stops[stops.indexOf(from) + by]?.focus();
}

/** A table whose rows can be sorted and columns chosen, and that works with the keyboard. */
export function TableFrame<Row>({
  table: whole,
  expectedRows = 8,
  isFull = false,
  end,
  onNearEnd,
  rendered,
}: TableFrameProps<Row> & { rendered: RenderedRows }) {
  const table = useFitting(whole);
  const {
    activeId,
    groupOf,
    isMain = false,
    label,
    rows,
    scroller,
    selection,
    shownColumns,
    sortedRows,
  } = table;
  const isPrinting = usePrinting();
  const isLoading = rows === undefined;
  const columnCount = shownColumns.length + (selection === undefined ? 0 : 1);

  useShortcut({ keys: "j", label: "Next row", group: shortcutGroup, run: () => table.step(1) }, isMain);
  useShortcut({ keys: "k", label: "Previous row", group: shortcutGroup, run: () => table.step(-1) }, isMain);
  useShortcut(
    { keys: "x", label: "Select or deselect the row", group: shortcutGroup, run: toggleActive },
    isMain && selection !== undefined,
  );

  function toggleActive(): void {
    if (activeId !== undefined && table.canSelect(activeId)) table.toggleSelected(activeId);
  }

  // The list scrolls to the row that is open in a drawer.
  const follow = useEffectEvent((id: string | undefined) => {
    const index = table.indexOf(id);
    if (index !== undefined) rendered.scrollTo(index);
  });
  useEffect(() => follow(activeId), [activeId]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // A select has its own arrow keys.
    if (event.target instanceof HTMLSelectElement) return;
    const by = steps[event.key];
    const sideways = sidewaySteps[event.key];
    if (sideways !== undefined) {
      event.preventDefault();
      focusBeside(event.target, sideways);
    } else if (event.key === "ArrowUp" && table.indexOf(activeId) === 0) {
      event.preventDefault();
      stopsOf(scroller.current?.querySelector("thead tr"))[0]?.focus();
    } else if (by !== undefined) {
      event.preventDefault();
      table.step(by);
    } else if (event.key === "x" && selection !== undefined) {
      event.preventDefault();
      toggleActive();
    } else if (event.key === "Escape" && selection !== undefined && selection.ids.length > 0) {
      event.preventDefault();
      selection.onChange([]);
    }
  }

  return (
    <div
      ref={scroller}
      data-table=""
      className={clsx(
        "scroll-edges-x min-w-0 overflow-auto print:**:whitespace-normal print:[&_.truncate]:overflow-visible",
        isFull ? "min-h-0 flex-1" : "max-h-[max(20rem,calc(100dvh-10rem))]",
      )}
    >
      <table
        onKeyDown={onKeyDown}
        aria-label={label}
        aria-busy={isLoading}
        {...(rendered.isVirtual && { "aria-rowcount": onNearEnd === undefined ? sortedRows.length + 1 : -1 })}
        className={clsx(
          "w-full min-w-(--least) table-fixed border-separate border-spacing-0 text-sm print:table-auto print:min-w-full! print:[&_col]:w-auto!",
          (!isPrinting || table.onPaper !== undefined) && "stacks",
        )}
        style={{ "--least": `${widthOf(table)}px` } as CSSProperties}
      >
        <colgroup>
          {selection !== undefined && <col style={{ width: selectionWidthPx }} />}
          {shownColumns.map(({ id, isElastic = false, widthPx }) => (
            <col key={id} style={isElastic ? {} : { width: widthPx }} />
          ))}
        </colgroup>
        <DataHeader table={table} />
        {isLoading ? (
          <SkeletonTableRows count={expectedRows} columnCount={columnCount} />
        ) : (
          <tbody>
            <Spacer heightPx={rendered.beforePx} columnCount={columnCount} />
            {rendered.indexes.map((index) => {
              const entry = sortedRows[index];
              if (entry === undefined) return null;
              const before = sortedRows[index - 1];
              const group = groupOf?.(entry.row);
              return (
                <Fragment key={entry.id}>
                  {group !== undefined && (before === undefined || groupOf?.(before.row) !== group) && (
                    <tr>
                      <th
                        scope="rowgroup"
                        colSpan={columnCount}
                        className="border-b border-line bg-canvas px-4 pt-3 pb-1.5 text-left text-xs font-semibold text-ink-2"
                      >
                        <InlineText text={group} />
                      </th>
                    </tr>
                  )}
                  <DataRow
                    table={table}
                    id={entry.id}
                    row={entry.row}
                    {...(rendered.isVirtual && { index, measure: rendered.measure })}
                  />
                </Fragment>
              );
            })}
            <Spacer heightPx={rendered.afterPx} columnCount={columnCount} />
          </tbody>
        )}
      </table>
      {end}
    </div>
  );
}

/** Drops the columns that do not fit, unless people chose the columns. */
function useFitting<Row>(table: DataTableModel<Row>): DataTableModel<Row> {
  const { scroller, spare = [], view } = table;
  const { width } = useSize(scroller);
  // A phone stacks the columns, and paper takes what it gets.
  const isElsewhere = [useNarrow(), usePrinting()].some(Boolean);
  if (width === 0 || isElsewhere || view.hasOwnColumns) return table;
  const fitting = { ...table };
  for (const id of spare) {
    if (widthOf(fitting) <= width) break;
    if (id !== view.sort?.id)
      fitting.shownColumns = fitting.shownColumns.filter((column) => column.id !== id);
  }
  return fitting;
}

/** Takes the height of the rows that are not rendered. */
function Spacer({ heightPx, columnCount }: { heightPx: number; columnCount: number }) {
  if (heightPx <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columnCount} style={{ height: heightPx, padding: 0 }} />
    </tr>
  );
}

function widthOf<Row>({ selection, shownColumns }: DataTableModel<Row>): number {
  return shownColumns.reduce(
    (sum, { widthPx }) => sum + widthPx,
    selection === undefined ? 0 : selectionWidthPx,
  );
}

/** Which rows are rendered. */
export interface RenderedRows {
  /** Whether some rows are not rendered. */
  isVirtual: boolean;
  indexes: readonly number[];
  beforePx: number;
  afterPx: number;
  measure(row: HTMLTableRowElement | null): void;
  scrollTo(index: number): void;
}

export function allRows(count: number): RenderedRows {
  return {
    isVirtual: false,
    indexes: Array.from({ length: count }, (_, index) => index),
    beforePx: 0,
    afterPx: 0,
    measure() {},
    scrollTo() {},
  };
}
