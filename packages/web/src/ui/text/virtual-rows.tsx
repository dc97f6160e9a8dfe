import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { type ReactNode, useRef } from "react";

interface VirtualRowsProps {
  label: string;
  count: number;
  isWrapped: boolean;
  renderRow(index: number): ReactNode;
}

const rowHeight = 20;
const rowsBeyond = 20;

/** Rows of text of any number: only those in sight are in the page. */
export function VirtualRows({ label, count, isWrapped, renderRow }: VirtualRowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: rowsBeyond,
  });
  return (
    <section
      ref={scroller}
      aria-label={label}
      // What scrolls must be reachable by keyboard.
      tabIndex={0}
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
    </section>
  );
}
