import { clsx } from "clsx";
import type { ReactNode } from "react";
import { formatCount } from "../../format/numbers.ts";
import { Pieces } from "../untrusted-text/inline-text.tsx";
import type { ComparedLine, LinePart } from "./compare-texts.ts";
import type { DisplayRow, Layout } from "./display-rows.ts";

type Side = "equal" | "removed" | "added";

const signs: Record<Side, string> = { equal: " ", removed: "−", added: "+" };
const said = { removed: "missing", added: "new" };
const grounds: Record<Side, string> = { equal: "", removed: "bg-fail-soft", added: "bg-pass-soft" };

interface DifferenceLineProps {
  row: DisplayRow;
  layout: Layout;
  onExpand(from: number): void;
}

/** One row of a difference, readable without colours. */
export function DifferenceLine({ row, layout, onExpand }: DifferenceLineProps) {
  switch (row.kind) {
    case "collapsed":
      return (
        <button
          type="button"
          onClick={() => onExpand(row.from)}
          className="flex w-full gap-2 bg-sunken px-3 py-0.5 text-left text-ink-3 -outline-offset-2 hover:bg-hover hover:text-ink"
        >
          <span aria-hidden>⋯</span>
          <span className="shrink-0">
            {formatCount(row.count)} equal {row.count === 1 ? "line" : "lines"}
          </span>
          {row.path !== undefined && (
            <span className="min-w-0 truncate">
              <Pieces text={row.path} />
            </span>
          )}
        </button>
      );
    case "pair":
      return (
        <Pair>
          <Half side="removed" line={row.before} />
          <Half side="added" line={row.after} />
        </Pair>
      );
    case "equal":
      if (layout === "unified") return <Line side="equal" line={row.after} parts={row.parts} />;
      return (
        <Pair>
          <Line side="equal" line={row.before} parts={row.parts} />
          <Line side="equal" line={row.after} parts={row.parts} />
        </Pair>
      );
    case "removed":
    case "added":
      return <Line side={row.kind} line={row.line.line} parts={row.line.parts} />;
  }
}

function Pair({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-2 divide-x divide-line">{children}</div>;
}

function Half({ side, line }: { side: Side; line: ComparedLine | undefined }) {
  if (line === undefined) return <div className="bg-sunken" />;
  return <Line side={side} line={line.line} parts={line.parts} />;
}

function Line({ side, line, parts }: { side: Side; line: number; parts: readonly LinePart[] }) {
  // A line that changed entirely needs no highlights.
  const isPartly = parts.some(({ isChanged }) => !isChanged);
  return (
    <div className={clsx("flex min-w-0", grounds[side])}>
      <span aria-hidden className="w-10 shrink-0 pr-2 text-right text-ink-3 select-none">
        {line}
      </span>
      <span className="w-4 shrink-0 select-none" aria-hidden>
        {signs[side]}
      </span>
      {side !== "equal" && <span className="sr-only">{said[side]}: </span>}
      <span dir="auto" className="min-w-0 flex-1 pr-3 wrap-anywhere whitespace-pre-wrap">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is rendered as a whole
          <ShownPart key={index} part={part} side={isPartly ? side : "equal"} />
        ))}
      </span>
    </div>
  );
}

const changes = {
  removed: "rounded-xs bg-fail/20 line-through decoration-fail/70",
  added: "rounded-xs bg-pass/20 underline decoration-pass/70 underline-offset-2",
};

function ShownPart({ part, side }: { part: LinePart; side: Side }) {
  const { text, isChanged, omitted } = part;
  const omission = omitted > 0 && (
    <span className="mx-1 rounded bg-hover px-1 text-ink-3 no-underline">
      ⋯ {formatCount(omitted)} characters
    </span>
  );
  if (!isChanged || side === "equal") {
    return (
      <>
        <Pieces text={text} />
        {omission}
      </>
    );
  }
  // Changed whitespace would be invisible.
  const shown = text.trim() === "" ? text.replaceAll(" ", "·").replaceAll("\t", "⇥") : text;
  const Change = side === "removed" ? "del" : "ins";
  return (
    <>
      <Change className={changes[side]}>
        <Pieces text={shown} />
      </Change>
      {omission}
    </>
  );
}
