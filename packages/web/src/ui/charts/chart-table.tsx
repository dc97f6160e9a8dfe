import type { Step } from "../../format/times.ts";
import { ScrollRegion } from "../page.tsx";
import { type ChartPoint, type ChartSeries, formatChartValue } from "./chart-series.ts";
import { formatStep } from "./format-step.ts";

interface ChartTableProps {
  label: string;
  step: Step;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  format(value: number): string;
}

/** The chart's values as a table, newest first. */
export function ChartTable({ label, step, series, points, format }: ChartTableProps) {
  return (
    <ScrollRegion label={`${label}, as a table`} className="h-full overflow-auto text-xs">
      <table className="w-full tabular-nums">
        <thead className="sticky top-0 bg-surface">
          <tr className="text-ink-3">
            <th scope="col" className="py-1 pr-3 text-left font-medium">
              {step === "day" ? "Day" : "Hour"}
            </th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col" className="px-2 py-1 text-right font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ startMs, values }) => (
            <tr key={startMs} className="border-t border-line">
              <th scope="row" className="py-1 pr-3 text-left font-normal whitespace-nowrap text-ink-2">
                {formatStep(startMs, step)}
              </th>
              {series.map(({ key }) => (
                <td key={key} className="px-2 py-1 text-right whitespace-nowrap">
                  {formatChartValue(values[key], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
