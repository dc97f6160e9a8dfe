// Untrusted text as text nodes only, in which nothing is invisible or changes its surroundings.

import type { ReactNode } from "react";
import { cutBefore, type Range } from "./text-ranges.ts";

const maxCharacters = 300;

/** A short untrusted text inside a line. Line breaks are shown as symbols. */
export function InlineText({ text }: { text: string }) {
  const beginning = text.length > maxCharacters ? `${text.slice(0, cutBefore(text, maxCharacters))}…` : text;
  return (
    <bdi>
      <Pieces text={beginning.replaceAll("\n", "↵ ").replaceAll("\t", " ")} />
    </bdi>
  );
}

interface BeginningProps {
  text: string | null | undefined;
  /** The text in the neighbouring column, to tell this one from. */
  beside?: string | null | undefined;
}

/** The beginning of a text for a table cell, without a tool response's tags; from the first difference, if it begins like `beside`. */
export function Beginning({ text, beside }: BeginningProps) {
  if (text == null) return <span className="text-ink-3">–</span>;
  const shown = withoutTag(text);
  const from = startOfDifference(shown, withoutTag(beside ?? ""));
  return (
    <span className="line-clamp-2 font-mono text-xs whitespace-normal wrap-anywhere text-ink print:line-clamp-none">
      <InlineText text={from === 0 ? shown : `…${shown.slice(from)}`} />
    </span>
  );
}

function withoutTag(text: string): string {
  return text.replace(/^\s*<tool_response>\s*|\s*<\/tool_response>\s*$/g, "");
}

const keptBefore = 24;

/** The index of a word shortly before the first difference; 0 if the texts differ early, or not at all. */
function startOfDifference(text: string, other: string): number {
  let alike = 0;
  while (alike < text.length && text[alike] === other[alike]) alike += 1;
  if (text === other || alike < 2 * keptBefore) return 0;
  const from = cutBefore(text, alike - keptBefore);
  return from + 1 + text.slice(from, alike).search(/\s\S/);
}

const keptAtEnd = 12;

/** The ID of a sample or a trajectory where space is limited: a long ID keeps its end, which differs from the row above. */
export function SampleName({ id, children }: { id: string; children?: ReactNode }) {
  const characters = Array.from(id);
  return (
    <span title={id} className="flex min-w-0 font-mono text-xs text-ink print:inline">
      {characters.length <= keptAtEnd ? (
        <InlineText text={id} />
      ) : (
        <>
          {/* Screen readers would read two parts as two words. */}
          <span className="sr-only">
            <InlineText text={id} />
          </span>
          <span aria-hidden className="truncate">
            <InlineText text={characters.slice(0, -keptAtEnd).join("")} />
          </span>
          <span aria-hidden className="shrink-0">
            <InlineText text={characters.slice(-keptAtEnd).join("")} />
          </span>
        </>
      )}
      {children}
    </span>
  );
}

interface PiecesProps {
  text: string;
  /** Highlighted ranges: ordered, and not overlapping. */
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

/** A part of a text, or the name of invisible or layout-changing characters. */
type Piece = string | { name: string; codes: string };

const maxName = 500;
const maxCodes = 100;

// In order: terminal colour sequences; control characters except tab and newline; line and paragraph separators; characters
// that Unicode ignores by default, except emoji variation selectors and joiners inside emoji; lone surrogates.
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  /\u001b\[[0-?]{0,32}[ -/]{0,4}[@-~]|[^\P{Cc}\t\n]|[\u2028\u2029]|(?![\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d\p{Extended_Pictographic})\p{Default_Ignorable_Code_Point}|\p{Cs}/gu;

/** Splits a text so that nothing in it is invisible, changes the text direction or affects its surroundings. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(unseen)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    const named = nameOf(match[0]);
    const last = pieces.at(-1);
    // Merged, since browsers are slow to lay out thousands of elements in a row.
    if (typeof last === "object" && last.name.length < maxName) {
      last.name += ` ${named.name}`;
      if (last.codes.length < maxCodes) last.codes += ` ${named.codes}`;
    } else pieces.push(named);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function nameOf(unseen: string): { name: string; codes: string } {
  const point = unseen.codePointAt(0) ?? 0;
  const character = String.fromCodePoint(point);
  const codes = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  // Only terminal sequences have further characters, which are printable.
  return { name: (characterNames.get(character) ?? codes) + unseen.slice(character.length), codes };
}

const controls =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";

/** Unicode's abbreviations for invisible characters. */
const characterNames: ReadonlyMap<string, string> = new Map([
  ...controls.split(" ").map((name, code): [string, string] => [String.fromCharCode(code), name]),
  ["\u007f", "DEL"],
  ["\u00ad", "SHY"],
  ["\u061c", "ALM"],
  ["\u200b", "ZWSP"],
  ["\u200c", "ZWNJ"],
  ["\u200d", "ZWJ"],
  ["\u200e", "LRM"],
  ["\u200f", "RLM"],
  ["\u2028", "LS"],
  ["\u2029", "PS"],
  ["\u202a", "LRE"],
  ["\u202b", "RLE"],
  ["\u202c", "PDF"],
  ["\u202d", "LRO"],
  ["\u202e", "RLO"],
  ["\u2060", "WJ"],
  ["\u2066", "LRI"],
  ["\u2067", "RLI"],
  ["\u2068", "FSI"],
  ["\u2069", "PDI"],
  ["\ufeff", "BOM"],
]);
