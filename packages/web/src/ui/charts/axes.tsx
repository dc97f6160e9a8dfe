// The lines around a plot, and the texts along them.

import type { Range } from "./scale.ts";

/** Where the curves and bars of a plot are, in pixels. */
export interface PlotArea {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface ValueAxisProps {
  area: PlotArea;
  ticks: readonly number[];
  format(value: number): string;
  toY(value: number): number;
}

/** Grid lines with the values that they stand for. */
export function ValueAxis({ area: { left, right }, ticks, format, toY }: ValueAxisProps) {
  return (
    <g className="fill-ink-3 text-[12px] tabular-nums">
      {ticks.map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={toY(value)} y2={toY(value)} className="stroke-line" />
          <text x={left - 6} y={toY(value)} dy="0.32em" textAnchor="end">
            {format(value)}
          </text>
        </g>
      ))}
    </g>
  );
}

interface PlaceLabel {
  /** Of its middle, in pixels. */
  x: number;
  text: string;
}

/** The line below a plot with labels of some places. */
export function PlaceAxis({ area, labels }: { area: PlotArea; labels: readonly PlaceLabel[] }) {
  const { left, right, bottom } = area;
  return (
    <g className="fill-ink-3 text-[12px] tabular-nums">
      <line x1={left} x2={right} y1={bottom} y2={bottom} className="stroke-line-strong" />
      {labels.map(({ x, text }) => (
        <text key={x} x={x} y={bottom + 15} textAnchor="middle">
          {text}
        </text>
      ))}
    </g>
  );
}

/** Of a character at 12 pixels, rather too much. */
const characterWidth = 7;
const gap = 20;

/** Labels of steps at equal distances that end with the last step: as many as do not touch each other. */
export function placeLabels(
  texts: readonly string[],
  toX: (index: number) => number,
  /** Where the drawing ends, in pixels. */
  end: number,
): PlaceLabel[] {
  const width = Math.max(0, ...texts.map((text) => text.length)) * characterWidth;
  const every = Math.max(1, Math.ceil((width + gap) / (toX(1) - toX(0))));
  const last = texts.length - 1;
  return texts.flatMap((text, index) =>
    // The last label may be wider than what is right of its step.
    (last - index) % every === 0 ? [{ text, x: Math.min(toX(index), end - width / 2) }] : [],
  );
}

const noteCharacterWidth = 6.5;

/** A note beside the top of what it is about. */
interface PlacedNote {
  x: number;
  text: string;
  anchor: "start" | "end";
  /** 0 is the highest. */
  row: number;
}

/**
 * Notes to the right of their places, or to the left of them: on the first side that has room between `ends` and where a note covers
 * neither another note nor another place. Where neither side is free, a note stands below the others.
 */
export function placeNotes(
  notes: readonly { x: number; text: string }[],
  /** Between the middle of a place and its note, in pixels. */
  distance: number,
  [least, greatest]: Range,
): PlacedNote[] {
  const placed: (PlacedNote & Span)[] = [];
  for (const { x, text } of notes) {
    const width = text.length * noteCharacterWidth;
    const right = { anchor: "start", x: x + distance, from: x + distance, to: x + distance + width } as const;
    const left = { anchor: "end", x: x - distance, from: x - distance - width, to: x - distance } as const;
    const inside = [right, left].filter(({ from, to }) => from >= least && to <= greatest);
    const isFree = (span: Span, row: number) =>
      !placed.some((note) => note.row === row && overlap(note, span));
    const clear = inside.find(
      (side) => isFree(side, 0) && !notes.some((other) => other.x > side.from && other.x < side.to),
    );
    const side = clear ?? inside[0] ?? right;
    let row = 0;
    while (!isFree(side, row)) row += 1;
    placed.push({ ...side, text, row });
  }
  return placed.map(({ x, text, anchor, row }) => ({ x, text, anchor, row }));
}

interface Span {
  from: number;
  to: number;
}

function overlap(one: Span, other: Span): boolean {
  return one.from < other.to && other.from < one.to;
}
