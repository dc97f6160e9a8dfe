// The lines around a plot, and the texts along them.

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
