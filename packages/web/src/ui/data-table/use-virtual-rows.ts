import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect } from "react";
import { usePrinting } from "../use-printing.ts";
import { allRows, type RenderedRows } from "./table-frame.tsx";
import type { DataTableModel } from "./use-data-table.ts";

/** As many rows are all in the page, so that the browser's own search finds them. */
const maxWhole = 100;
const rowHeightPx = 40;
const rowsBeyond = 12;
const rowsBeforeEnd = 40;

/** Which rows are rendered: all of a short table and on paper, those in sight of a long one. */
export function useVirtualRows<Row>(
  { scroller, sortedRows }: DataTableModel<Row>,
  onNearEnd: (() => void) | undefined,
): RenderedRows {
  const isPrinting = usePrinting();
  const isOn = !isPrinting && (sortedRows.length > maxWhole || onNearEnd !== undefined);
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

  if (!isOn) return allRows(sortedRows.length);
  return {
    isVirtual: true,
    indexes: shown.map(({ index }) => index),
    beforePx: shown.at(0)?.start ?? 0,
    afterPx: virtualizer.getTotalSize() - (last?.end ?? 0),
    measure: virtualizer.measureElement,
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
