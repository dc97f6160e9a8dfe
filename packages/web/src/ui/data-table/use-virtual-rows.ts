import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect } from "react";
import type { DataTableModel } from "./use-data-table.ts";

/** As many rows are all in the page, so that the browser's own search finds them. */
const maxWhole = 100;
const rowHeightPx = 40;
const rowsBeyond = 12;
const rowsBeforeEnd = 40;

interface VirtualRows {
  isOn: boolean;
  /** Of the rows that are rendered. */
  indexes: readonly number[];
  beforePx: number;
  afterPx: number;
  measure(row: HTMLTableRowElement | null): void;
  scrollTo(index: number): void;
}

/** Which rows are rendered: all of a short table, those in sight of a long one. */
export function useVirtualRows<Row>(
  { scroller, sortedRows }: DataTableModel<Row>,
  onNearEnd: (() => void) | undefined,
): VirtualRows {
  const isOn = sortedRows.length > maxWhole || onNearEnd !== undefined;
  const virtualizer = useVirtualizer({
    count: sortedRows.length,
    enabled: isOn,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    getItemKey: (index) => sortedRows[index]?.id ?? index,
    overscan: rowsBeyond,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1);
  const isNearEnd = isOn && last !== undefined && last.index >= sortedRows.length - rowsBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, onNearEnd]);

  if (!isOn) {
    return {
      isOn,
      indexes: [...sortedRows.keys()],
      beforePx: 0,
      afterPx: 0,
      measure() {},
      scrollTo() {},
    };
  }
  return {
    isOn,
    indexes: shown.map(({ index }) => index),
    beforePx: shown.at(0)?.start ?? 0,
    afterPx: virtualizer.getTotalSize() - (last?.end ?? 0),
    measure: virtualizer.measureElement,
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
