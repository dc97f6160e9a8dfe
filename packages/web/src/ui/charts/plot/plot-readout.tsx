import { clsx } from "clsx";
import type { ChartSeries } from "../chart-series.ts";
import { ChartSwatch } from "../chart-swatch.tsx";

/** The values at one place of a plot. */
export interface Readout {
  /** The place, for example “Step 3”. */
  title: string;
  rows: readonly ReadoutRow[];
}

export interface ReadoutRow extends Pick<ChartSeries, "key" | "label" | "color" | "shape" | "isDashed"> {
  /** Formatted; null: unknown. */
  value: string | null;
  /** Lines below it, for example its interval. */
  details?: readonly string[];
  /** The value that a dot marks in the plot. */
  dot?: number | null;
}

interface PlotReadoutProps extends Readout {
  /** Of the place, in pixels. */
  left: number;
  /** Of the plot, in pixels. */
  width: number;
}

/** Between a place and its values, in pixels. */
const distance = 10;

/** Shows the values beside their place, on the side with more room. */
export function PlotReadout({ title, rows, left, width }: PlotReadoutProps) {
  const isRight = left < width / 2;
  const room = (isRight ? left : width - left) + distance;
  return (
    <div
      aria-hidden
      className={clsx(
        "pointer-events-none absolute inset-x-0 top-2 z-10 flex",
        !isRight && "flex-row-reverse",
      )}
    >
      {/* Shrinks where the values would not fit beside the place. */}
      <span style={{ flexBasis: room }} />
      <div className="max-w-64 shrink-0 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float">
        <p className="mb-1 font-medium">{title}</p>
        <ul className="flex flex-col gap-1">
          {rows.map((row) => (
            <ReadoutValue key={row.key} row={row} />
          ))}
        </ul>
      </div>
    </div>
  );
}

function ReadoutValue({ row }: { row: ReadoutRow }) {
  const { label, value, details = [], color, shape, isDashed = false } = row;
  return (
    <li>
      <span className="flex items-center gap-1.5">
        <ChartSwatch color={color} shape={shape} isDashed={isDashed} />
        <span className="min-w-0 flex-1 truncate text-ink-2">{label}</span>
        <span className="pl-3 font-medium tabular-nums">{value ?? "–"}</span>
      </span>
      {details.map((detail) => (
        <span key={detail} className="block pl-5 text-ink-3 tabular-nums">
          {detail}
        </span>
      ))}
    </li>
  );
}

/** The values as a sentence, for screen readers. */
export function sayReadout({ title, rows }: Readout): string {
  const values = rows.map(
    ({ label, value, details = [] }) => `${label}: ${[value ?? "no value", ...details].join(", ")}`,
  );
  return `${title}. ${values.join(". ")}`.replaceAll(" – ", " to ");
}
