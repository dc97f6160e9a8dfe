import { ChartSpline, Table2 } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../icon-button.tsx";
import type { ChartSeries } from "./chart-series.ts";
import { ChartSwatch } from "./chart-swatch.tsx";
import { ChartTable } from "./chart-table.tsx";
import { TimePlot, type TimePlotProps } from "./time/time-plot.tsx";

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

function ChartLegend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul className="flex min-w-0 flex-1 flex-wrap gap-x-4 gap-y-1 text-xs">
      {series.map(({ key, label, total, ...look }) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <ChartSwatch {...look} />
          <span title={label} className="max-w-48 truncate text-ink-2">
            {label}
          </span>
          {total !== undefined && <span className="font-medium tabular-nums">{total}</span>}
        </li>
      ))}
    </ul>
  );
}
