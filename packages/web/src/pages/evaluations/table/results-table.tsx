import { useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import type { ResultRow } from "../../../data/evaluation-results.ts";
import { useNarrow } from "../../../ui/use-narrow.ts";
import {
  narrowResultColumns,
  outputColumnId,
  resultColumns,
  resultTableFeatures,
} from "./result-columns.tsx";
import { ResultTableRow } from "./result-table-row.tsx";

interface ResultsTableProps {
  rows: ResultRow[];
  /** The row that has the keyboard focus, or had it last. */
  activeId: string | undefined;
  openId: string | undefined;
  /** Below the last row. */
  end: ReactNode;
  onActivate(id: string): void;
  onOpen(id: string): void;
  /** Called when the user is near the last row. */
  onNearEnd(): void;
}

const rowHeight = 44;
const rowsBeyond = 12;
const rowsBeforeEnd = 40;

/** Renders only the visible rows, for any number of results. */
export function ResultsTable({
  rows: data,
  activeId,
  openId,
  end,
  onActivate,
  onOpen,
  onNearEnd,
}: ResultsTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const table = useTable({
    features: resultTableFeatures,
    columns: isNarrow ? narrowResultColumns : resultColumns,
    data,
    getRowId: ({ id }) => id,
  });
  const { rows } = table.getRowModel();
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: rowsBeyond,
  });
  const shown = virtualizer.getVirtualItems();
  const first = shown.at(0);
  const last = shown.at(-1);
  const activeIndex = Math.max(
    0,
    rows.findIndex(({ id }) => id === activeId),
  );

  const isNearEnd = last !== undefined && last.index >= rows.length - rowsBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, onNearEnd]);

  // The list follows the result that is open in the drawer.
  const follow = useEffectEvent((id: string | undefined) => {
    const index = rows.findIndex((row) => row.id === id);
    if (index !== -1) virtualizer.scrollToIndex(index);
  });
  useEffect(() => follow(activeId), [activeId]);

  function step(event: KeyboardEvent, by: number): void {
    const next = rows[activeIndex + by];
    if (next === undefined) return;
    event.preventDefault();
    onActivate(next.id);
    requestAnimationFrame(() => focusResult(next.id));
  }

  return (
    <div ref={scroller} className="scroll-edges-x min-h-0 flex-1 overflow-auto">
      <table
        aria-rowcount={-1}
        className="w-full min-w-272 md:min-w-284 table-fixed border-separate border-spacing-0 text-sm"
      >
        <colgroup>
          {table.getAllLeafColumns().map((column) => (
            <col key={column.id} style={column.id === outputColumnId ? {} : { width: column.getSize() }} />
          ))}
        </colgroup>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th
                  key={header.id}
                  scope="col"
                  className="sticky top-0 z-10 h-9 border-b border-line bg-surface px-3 text-left text-xs font-medium text-ink-3 first:pl-4 max-md:px-2 nth-2:text-right"
                >
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") step(event, 1);
            if (event.key === "ArrowUp") step(event, -1);
          }}
        >
          <Spacer height={first?.start ?? 0} />
          {shown.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <ResultTableRow
                key={row.id}
                row={row.original}
                index={index}
                isActive={index === activeIndex}
                isOpen={row.id === openId}
                onOpen={onOpen}
              >
                {row.getAllCells().map((cell) => (
                  <table.FlexRender key={cell.id} cell={cell} />
                ))}
              </ResultTableRow>
            );
          })}
          <Spacer height={virtualizer.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
      {end}
    </div>
  );
}

/** Takes the height of the rows that are not rendered. */
function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={resultColumns.length} style={{ height, padding: 0 }} />
    </tr>
  );
}

/** Focuses a row, if it is rendered. */
export function focusResult(id: string): void {
  document.querySelector<HTMLElement>(`a[data-result="${CSS.escape(id)}"]`)?.focus();
}
