import type { Step } from "../../data/period.ts";
import { type ChartPoint, type ChartSeries, formatChartValue } from "./chart-series.ts";
import { ChartSwatch } from "./chart-swatch.tsx";
import { formatStep } from "./format-step.ts";

interface ChartTooltipProps {
  point: ChartPoint;
  step: Step;
  series: readonly ChartSeries[];
  format(value: number): string;
}

/** The exact values of one step. */
export function ChartTooltip({ point, step, series, format }: ChartTooltipProps) {
  return (
    <div role="status" className="rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float">
      <p className="mb-1 font-medium">{formatStep(point.startMs, step)}</p>
      <dl className="grid grid-cols-[auto_auto] gap-x-4 gap-y-0.5">
        {series.map(({ key, label, ...look }) => (
          <div key={key} className="col-span-2 grid grid-cols-subgrid">
            <dt className="flex items-center gap-1.5 text-ink-2">
              <ChartSwatch {...look} />
              <span className="max-w-40 truncate">{label}</span>
            </dt>
            <dd className="text-right tabular-nums">{formatChartValue(point.values[key], format)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
