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
  /** Whether it stands to the right of the place. */
  isRight: boolean;
}

/** Shows the values beside their place. */
export function PlotReadout({ title, rows, left, isRight }: PlotReadoutProps) {
  return (
    <div
      aria-hidden
      style={{ left, transform: isRight ? "translateX(10px)" : "translateX(calc(-100% - 10px))" }}
      className="pointer-events-none absolute top-2 z-10 w-max max-w-64 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float"
    >
      <p className="mb-1 font-medium">{title}</p>
      <ul className="flex flex-col gap-1">
        {rows.map(({ key, label, value, details = [], dot: _dot, ...look }) => (
          <li key={key}>
            <span className="flex items-center gap-1.5">
              <ChartSwatch {...look} />
              <span className="min-w-0 flex-1 truncate text-ink-2">{label}</span>
              <span className="pl-3 font-medium tabular-nums">{value ?? "–"}</span>
            </span>
            {details.map((detail) => (
              <span key={detail} className="block pl-5 text-ink-3 tabular-nums">
                {detail}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The values as a sentence, for screen readers. */
export function sayReadout({ title, rows }: Readout): string {
  const values = rows.map(
    ({ label, value, details = [] }) => `${label}: ${[value ?? "no value", ...details].join(", ")}`,
  );
  return `${title}. ${values.join(". ")}`.replaceAll(" – ", " to ");
}
