// The lines around a plot, and the texts along them.

/** The area of a plot's curves and bars, in pixels. */
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
  /** The middle of the label, in pixels. */
  x: number;
  text: string;
}

/** The line below a plot, with labels for some of its places. */
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

/** The width of a character at 12 pixels, on the high side. */
const characterWidth = 7;
const gap = 20;

/** Labels of steps at equal distances up to the last step: as many as fit without touching each other. */
export function placeLabels(
  texts: readonly string[],
  toX: (index: number) => number,
  /** The right edge of the drawing, in pixels. */
  end: number,
): PlaceLabel[] {
  const width = Math.max(0, ...texts.map((text) => text.length)) * characterWidth;
  const every = Math.max(1, Math.ceil((width + gap) / (toX(1) - toX(0))));
  const last = texts.length - 1;
  return texts.flatMap((text, index) =>
    // The last label may be wider than the space to the right of its step.
    (last - index) % every === 0 ? [{ text, x: Math.min(toX(index), end - width / 2) }] : [],
  );
}
