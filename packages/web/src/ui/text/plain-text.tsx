import { clsx } from "clsx";
import { WrapText } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../button.tsx";
import { CopyButton } from "../copy-button.tsx";
import { IconButton } from "../icon-button.tsx";
import { Segmented } from "../segmented.tsx";
import { clipRanges, codeUnitRanges } from "./code-unit-ranges.ts";
import { cutBefore } from "./cut-before.ts";
import { findJson } from "./find-json.ts";
import { formatSize } from "./format-size.ts";
import { jsonLines } from "./json-lines.ts";
import { Pieces } from "./pieces.tsx";
import { TextLines } from "./text-lines.tsx";

interface PlainTextProps {
  text: string;
  /** What the text is, for the heading and the copy button. */
  label?: string;
  /** What is highlighted: from the first code point to the one after the last. */
  positions?: readonly (readonly [number, number])[];
}

const layouts = [
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
] as const;
/** What is shown of a longer text before the reader asks for all of it. */
const firstCharacters = 20_000;
const noPositions: NonNullable<PlainTextProps["positions"]> = [];

/** Text of unknown origin, shown as it is and harmlessly, however long it is. JSON can be laid out for reading. */
export function PlainText({ text, label = "Text", positions = noPositions }: PlainTextProps) {
  const [isWrapped, setWrapped] = useState(true);
  const [chosen, setLayout] = useState<"json" | "text">();
  const laidOut = useMemo(() => layOutJson(text), [text]);
  // Positions are those of the text as it came.
  const layout = laidOut === undefined ? "text" : (chosen ?? (positions.length > 0 ? "text" : "json"));
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-surface">
      <div className="flex min-h-9 items-center gap-1 border-b border-line bg-sunken py-0.5 pr-1 pl-3">
        <span className="min-w-0 flex-1 truncate text-xs font-medium text-ink-2">{label}</span>
        {laidOut !== undefined && (
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
          className={clsx(isWrapped && "text-accent-ink")}
          onClick={() => setWrapped(!isWrapped)}
        />
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <TextBody
        text={layout === "json" ? (laidOut ?? text) : text}
        label={label}
        positions={layout === "json" ? noPositions : positions}
        isWrapped={isWrapped}
      />
    </div>
  );
}

function TextBody({ text, label, positions, isWrapped }: Required<PlainTextProps> & { isWrapped: boolean }) {
  const [shownWhole, setShownWhole] = useState<string>();
  const marks = useMemo(() => codeUnitRanges(text, positions), [text, positions]);
  if (text === "") return <p className="px-3 py-2 text-xs text-ink-3 italic">Empty</p>;
  if (shownWhole === text) return <TextLines text={text} label={label} marks={marks} isWrapped={isWrapped} />;
  const isLong = text.length > firstCharacters;
  const end = isLong ? cutBefore(text, firstCharacters) : text.length;
  return (
    <>
      <pre
        // What scrolls must be reachable by keyboard.
        tabIndex={0}
        className={clsx(
          "max-h-96 overflow-auto p-3 font-mono text-xs leading-5 -outline-offset-2 [unicode-bidi:plaintext]",
          isWrapped ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre",
        )}
      >
        <Pieces text={text.slice(0, end)} marks={clipRanges(marks, { start: 0, end })} />
        {isLong && <span className="text-ink-3">…</span>}
      </pre>
      {isLong && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-1.5 text-xs text-ink-3">
          The beginning of a long text
          <Button size="small" onClick={() => setShownWhole(text)}>
            Show all ({formatSize(new TextEncoder().encode(text).length)})
          </Button>
        </div>
      )}
    </>
  );
}

function layOutJson(text: string): string | undefined {
  const json = findJson(text);
  return (
    json &&
    jsonLines(json)
      .map((line) => line.text)
      .join("\n")
  );
}
