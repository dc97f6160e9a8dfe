import { clsx } from "clsx";
import { useMemo, useState } from "react";
import { formatSize } from "../../format/numbers.ts";
import { Button } from "../button.tsx";
import type { Language } from "../highlight/tokenize.ts";
import { useTokenizer } from "../highlight/use-tokenizer.ts";
import { ScrollRegion } from "../page.tsx";
import { clipRanges, codeUnitRanges } from "./code-unit-ranges.ts";
import { cutBefore } from "./cut-before.ts";
import { ColoredPieces, Pieces } from "./pieces.tsx";
import { TextLines } from "./text-lines.tsx";

interface TextBodyProps {
  text: string;
  label: string;
  positions: readonly (readonly [number, number])[];
  isWrapped: boolean;
  isProse: boolean;
  /** What it is coloured as; positions are not coloured. */
  language?: Language | undefined;
}

/** Longer texts are cut until the user expands them. */
const firstCharacters = 20_000;

/** A text, or the beginning of a long one with a button for the rest. */
export function TextBody({ text, label, positions, isWrapped, isProse, language }: TextBodyProps) {
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
