import { useMemo } from "react";
import { tokenClass } from "../highlight/token-class.ts";
import type { Tokenizer } from "../highlight/use-tokenizer.ts";
import type { Range } from "./code-unit-ranges.ts";
import { type Piece, visiblePieces } from "./visible-pieces.ts";

/** Renders untrusted text in coloured parts, each as `Pieces` does; plain if it has none. */
export function ColoredPieces({ text, tokenize }: { text: string; tokenize: Tokenizer | undefined }) {
  const tokens = useMemo(() => tokenize?.(text), [text, tokenize]);
  if (tokens === undefined) return <Pieces text={text} />;
  return tokens.map(({ kind, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text is rendered as a whole
    <span key={index} className={tokenClass[kind]}>
      <Pieces text={text} />
    </span>
  ));
}

interface PiecesProps {
  text: string;
  /** Highlights: ordered, and not overlapping. */
  marks?: readonly Range[];
}

/** Renders untrusted text as text nodes only; invisible characters are shown by name. */
export function Pieces({ text, marks = [] }: PiecesProps) {
  return splitByMarks(text, marks).map(({ start, end, isMarked }) => {
    const shown = visiblePieces(text.slice(start, end)).map((piece, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text is rendered as a whole
      <ShownPiece key={index} piece={piece} />
    ));
    if (!isMarked) return shown;
    return (
      <mark
        key={start}
        className="rounded-xs bg-warn-soft text-ink underline decoration-warn decoration-2 underline-offset-2"
      >
        {shown}
      </mark>
    );
  });
}

function ShownPiece({ piece }: { piece: Piece }) {
  if (typeof piece === "string") return piece;
  return (
    <span title={piece.codes} className="mx-px rounded-xs bg-hover px-0.5 text-ink-3">
      {piece.name}
    </span>
  );
}

function splitByMarks(text: string, marks: readonly Range[]): (Range & { isMarked: boolean })[] {
  const all: (Range & { isMarked: boolean })[] = [];
  let reached = 0;
  for (const { start, end } of marks) {
    if (start > reached) all.push({ start: reached, end: start, isMarked: false });
    all.push({ start, end, isMarked: true });
    reached = end;
  }
  if (reached < text.length) all.push({ start: reached, end: text.length, isMarked: false });
  return all;
}
