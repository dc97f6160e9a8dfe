import { clsx } from "clsx";
import { useMemo } from "react";
import type { Tokenizer } from "../highlight/use-tokenizer.ts";
import { clipRanges, type Range } from "./code-unit-ranges.ts";
import { ColoredPieces, Pieces } from "./pieces.tsx";
import { type TextRow, textRows } from "./text-rows.ts";
import { VirtualRows } from "./virtual-rows.tsx";

interface TextLinesProps {
  text: string;
  label: string;
  marks: readonly Range[];
  isWrapped: boolean;
  /** Colours each line by itself, so that only the visible ones are read. */
  tokenize?: Tokenizer | undefined;
}

/** A long text with line numbers. */
export function TextLines({ text, label, marks, isWrapped, tokenize }: TextLinesProps) {
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
              <LineText text={text} row={row} marks={marks} tokenize={tokenize} />
            </span>
          </div>
        );
      }}
    />
  );
}

function LineText({
  text,
  row,
  marks,
  tokenize,
}: Omit<TextLinesProps, "label" | "isWrapped"> & { row: TextRow }) {
  const shown = text.slice(row.start, row.end);
  const isWhole = row.line !== undefined && (row.end === text.length || text[row.end] === "\n");
  // A part of a long line may begin inside a string.
  if (marks.length === 0 && isWhole) return <ColoredPieces text={shown} tokenize={tokenize} />;
  return <Pieces text={shown} marks={clipRanges(marks, row)} />;
}
