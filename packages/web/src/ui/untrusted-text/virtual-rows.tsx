import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { type ReactNode, useRef } from "react";
import { ScrollRegion } from "../page.tsx";

interface VirtualRowsProps {
  label: string;
  count: number;
  /** The characters of a row, to estimate the height of wrapped rows. */
  lengthOf?(index: number): number;
  isWrapped: boolean;
  renderRow(index: number): ReactNode;
}

const rowHeight = 20;
const characterWidth = 7.2;
const usualWidth = 800;
const rowsBeyond = 20;

/** Renders only the visible rows, for any number of rows. */
export function VirtualRows({ label, count, lengthOf, isWrapped, renderRow }: VirtualRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize(index) {
      const columns = (scroller.current?.clientWidth ?? usualWidth) / characterWidth;
      const lines = isWrapped && lengthOf !== undefined ? Math.ceil(lengthOf(index) / columns) : 1;
      return Math.max(1, lines) * rowHeight;
    },
    overscan: rowsBeyond,
  });
  return (
    <ScrollRegion
      ref={scroller}
      label={label}
      className="max-h-[60dvh] overflow-auto font-mono text-xs leading-5 -outline-offset-2"
    >
      <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            className={clsx("absolute top-0 left-0 min-w-full", isWrapped ? "w-full" : "w-max")}
            style={{ transform: `translateY(${start}px)` }}
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
    </ScrollRegion>
  );
}
