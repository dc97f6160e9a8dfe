import { clsx } from "clsx";
import { WrapText } from "lucide-react";
import { useMemo, useState } from "react";
import { formatSize } from "../../format/numbers.ts";
import { Button, CopyButton, IconButton } from "../button.tsx";
import { ColoredPieces, type Tokenizer, useTokenizer } from "../code/highlight.tsx";
import type { Language } from "../code/tokenize.ts";
import { Segmented } from "../form/choices.tsx";
import { ScrollRegion } from "../page.tsx";
import { Pieces } from "./inline-text.tsx";
import { formatJson } from "./json-lines.ts";
import { clipRanges, codeUnitRanges, cutBefore, type Range, type TextRow, textRows } from "./text-ranges.ts";
import { VirtualRows } from "./virtual-rows.tsx";

interface PlainTextProps {
  text: string;
  /** For the heading and the copy button. */
  label?: string;
  /** Highlights as code point ranges; the end is exclusive. */
  positions?: readonly (readonly [number, number])[] | undefined;
  /** Prose is not monospaced. */
  isProse?: boolean;
}

const layouts = [
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
] as const;

const noPositions: NonNullable<PlainTextProps["positions"]> = [];

/** Shows untrusted text of any length safely and unchanged. JSON can be formatted. */
export function PlainText({
  text,
  label = "Text",
  positions = noPositions,
  isProse = false,
}: PlainTextProps) {
  const [isWrapped, setWrapped] = useState(true);
  const [chosen, setLayout] = useState<"json" | "text">();
  const formatted = useMemo(() => formatJson(text), [text]);
  // Positions refer to the unformatted text.
  const layout = formatted === undefined ? "text" : (chosen ?? (positions.length > 0 ? "text" : "json"));
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-surface">
      <div className="flex min-h-9 items-center gap-1 border-b border-line bg-sunken py-0.5 pr-1 pl-3">
        <span className="min-w-0 flex-1 truncate text-xs font-medium text-ink-2">{label}</span>
        {formatted !== undefined && (
          <Segmented
            label={`Layout of ${label.toLowerCase()}`}
            value={layout}
            options={layouts}
            onChange={(next) => setLayout(next)}
          />
        )}
        <IconButton
          label="Wrap long lines"
          icon={<WrapText aria-hidden />}
          aria-pressed={isWrapped}
          className="aria-pressed:text-accent-ink"
          onClick={() => setWrapped(!isWrapped)}
        />
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <TextBody
        text={layout === "json" ? (formatted ?? text) : text}
        label={label}
        positions={layout === "json" ? noPositions : positions}
        isWrapped={isWrapped}
        isProse={isProse}
        language={layout === "json" ? "json" : undefined}
      />
    </div>
  );
}

interface TextBodyProps {
  text: string;
  label: string;
  positions: readonly (readonly [number, number])[];
  isWrapped: boolean;
  isProse: boolean;
  /** The language to colour the text as; highlighted positions turn colours off. */
  language?: Language | undefined;
}

/** Longer texts are cut until the user expands them. */
const firstCharacters = 20_000;

/** A text, or the beginning of a long text with a button for the rest. */
function TextBody({ text, label, positions, isWrapped, isProse, language }: TextBodyProps) {
  const [shownWhole, setShownWhole] = useState<string>();
  const tokenize = useTokenizer(language);
  const marks = useMemo(() => codeUnitRanges(text, positions), [text, positions]);
  if (text === "") return <p className="px-3 py-2 text-xs text-ink-3 italic">Empty</p>;
  if (shownWhole === text) {
    return <TextLines text={text} label={label} marks={marks} isWrapped={isWrapped} tokenize={tokenize} />;
  }
  const isLong = text.length > firstCharacters;
  const end = isLong ? cutBefore(text, firstCharacters) : text.length;
  return (
    <>
      <ScrollRegion
        as="pre"
        className={clsx(
          "max-h-96 overflow-auto p-3 leading-5 -outline-offset-2 [unicode-bidi:plaintext]",
          isProse ? "font-sans text-sm" : "font-mono text-xs",
          isWrapped ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre",
        )}
      >
        {marks.length === 0 ? (
          <ColoredPieces text={text.slice(0, end)} tokenize={tokenize} />
        ) : (
          <Pieces text={text.slice(0, end)} marks={clipRanges(marks, { start: 0, end })} />
        )}
        {isLong && <span className="text-ink-3">…</span>}
      </ScrollRegion>
      {isLong && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-1.5 text-xs text-ink-3">
          Beginning of a long text
          <Button size="small" onClick={() => setShownWhole(text)}>
            Show all ({formatSize(new TextEncoder().encode(text).length)})
          </Button>
        </div>
      )}
    </>
  );
}

interface TextLinesProps {
  text: string;
  label: string;
  marks: readonly Range[];
  isWrapped: boolean;
  /** Colours each line by itself, so that only visible lines are tokenized. */
  tokenize?: Tokenizer | undefined;
}

/** A long text with line numbers. */
function TextLines({ text, label, marks, isWrapped, tokenize }: TextLinesProps) {
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
