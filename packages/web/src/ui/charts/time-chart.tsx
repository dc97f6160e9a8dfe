import { ChartSpline, Table2 } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../button.tsx";
import { ExportMenu } from "../export-menu.tsx";
import { copiedTable, type FiguresTable, FiguresView } from "./figures-table.tsx";
import { ChartLegend } from "./legend.tsx";
import { TimePlot, type TimePlotProps } from "./time-plot.tsx";
import { formatChartValue, formatStep } from "./time-series.ts";

/** Quantities over time, as a chart with a legend or as a table. */
export function TimeChart(props: TimePlotProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure aria-label={props.label} className="flex flex-1 flex-col gap-2 px-4 pt-2.5 pb-3">
      <figcaption className="flex items-center gap-1">
        <ChartLegend series={props.series} />
        <IconButton
          label={isTable ? "Show as chart" : "Show as table"}
          icon={isTable ? <ChartSpline aria-hidden /> : <Table2 aria-hidden />}
          onClick={() => setTable(!isTable)}
        />
        <ExportMenu label={props.label} isDrawn table={() => copiedTable(valuesTable(props))} />
      </figcaption>
      <div className="relative min-h-52 flex-1">
        <div className="absolute inset-0">
          {isTable ? <FiguresView label={props.label} table={valuesTable(props)} /> : <TimePlot {...props} />}
        </div>
      </div>
    </figure>
  );
}

/** The values, newest first. */
function valuesTable({ step, series, points, format }: TimePlotProps): FiguresTable {
  return {
    header: [step === "day" ? "Day" : "Hour", ...series.map(({ label }) => label)],
    rows: points.toReversed().map(({ startMs, values }) => ({
      name: formatStep(startMs, step),
      cells: series.map(({ key }) => formatChartValue(values[key], format)),
    })),
  };
}
