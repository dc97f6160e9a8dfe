import { ChartSpline, Table2 } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../button.tsx";
import { ScrollRegion } from "../page.tsx";
import { ChartLegend } from "./legend.tsx";
import { TimePlot, type TimePlotProps } from "./time-plot.tsx";
import { formatChartValue, formatStep } from "./time-series.ts";

/** Quantities over time, as a chart with a legend or as a table. */
export function TimeChart(props: TimePlotProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure aria-label={props.label} className="flex flex-1 flex-col gap-2 px-4 pt-2.5 pb-3">
      <figcaption className="flex items-center gap-3">
        <ChartLegend series={props.series} />
        <IconButton
          label={isTable ? "Show as chart" : "Show as table"}
          icon={isTable ? <ChartSpline aria-hidden /> : <Table2 aria-hidden />}
          onClick={() => setTable(!isTable)}
        />
      </figcaption>
      <div className="relative min-h-52 flex-1">
        <div className="absolute inset-0">
          {isTable ? <ChartTable {...props} /> : <TimePlot {...props} />}
        </div>
      </div>
    </figure>
  );
}

/** The chart's values as a table, newest first. */
function ChartTable({ label, step, series, points, format }: TimePlotProps) {
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
