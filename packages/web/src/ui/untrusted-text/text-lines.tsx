import { clsx } from "clsx";
import { useMemo } from "react";
import { clipRanges, type Range } from "./code-unit-ranges.ts";
import { Pieces } from "./pieces.tsx";
import { textRows } from "./text-rows.ts";
import { VirtualRows } from "./virtual-rows.tsx";

interface TextLinesProps {
  text: string;
  label: string;
  marks: readonly Range[];
  isWrapped: boolean;
}

/** A long text with line numbers. */
export function TextLines({ text, label, marks, isWrapped }: TextLinesProps) {
  const rows = useMemo(() => textRows(text), [text]);
  const digits = String(rows.at(-1)?.line ?? rows.length).length;
  return (
    <VirtualRows
      label={label}
      count={rows.length}
      lengthOf={(index) => (rows[index]?.end ?? 0) - (rows[index]?.start ?? 0)}
      isWrapped={isWrapped}
      renderRow={(index) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <div className="flex">
            <span
              aria-hidden
              className="shrink-0 pr-3 pl-2 text-right text-ink-3 select-none"
              style={{ width: `${digits + 3}ch` }}
            >
              {row.line ?? "·"}
            </span>
            <span
              dir="auto"
              className={clsx(
                "min-w-0 flex-1 pr-3",
                isWrapped ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre",
              )}
            >
              <Pieces text={text.slice(row.start, row.end)} marks={clipRanges(marks, row)} />
            </span>
          </div>
        );
      }}
    />
  );
}
