import type { ReactNode } from "react";
import { ChartSwatch } from "../chart-swatch.tsx";
import { IntervalDots } from "../interval-dots.tsx";
import { ChartFigure } from "./chart-figure.tsx";
import { type CurveSeries, type CurveShape, placesOf, pointAt } from "./curve.ts";
import { CurvePlot } from "./curve-plot.tsx";
import type { FiguresTable } from "./figures-table.ts";
import type { Range } from "./scale.ts";

export interface CurveChartProps {
  /** Names the chart, also for screen readers. */
  label: string;
  /** What the places are, for example “Step”. */
  xLabel: string;
  /** What the values are, for example “Pass rate”. */
  yLabel: string;
  series: readonly CurveSeries[];
  /** Of the values; 0 to 1 if not given. */
  domain?: Range | undefined;
  format(value: number): string;
  /** For the axis, where space is limited. */
  formatTick?(value: number): string;
  /** What the figures are and how their intervals were made. */
  note?: ReactNode;
}

export function CurveChart({ shape, ...props }: CurveChartProps & { shape: CurveShape }) {
  const series = props.series.map((one, index) => ({
    ...one,
    color: one.color ?? `var(--chart-${(index % 6) + 1})`,
  }));
  const xs = placesOf(series);
  // A curve of one place would be a lone dot.
  if (xs.length < 2) return <OnePlace {...props} series={series} />;
  return (
    <ChartFigure
      label={props.label}
      note={props.note}
      format={props.format}
      table={curveTable(props, xs, shape)}
      legend={<Legend series={series} />}
    >
      <CurvePlot {...props} domain={props.domain ?? [0, 1]} series={series} xs={xs} shape={shape} />
    </ChartFigure>
  );
}

type ColoredSeries = CurveSeries & { color: string };

function Legend({ series }: { series: readonly ColoredSeries[] }) {
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 text-xs">
      {series.map(({ key, label, color, isDashed = false }) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <ChartSwatch color={color} shape="line" isDashed={isDashed} />
          <span title={label} className="max-w-64 truncate text-ink-2">
            {label}
          </span>
        </li>
      ))}
    </ul>
  );
}

function OnePlace({ label, xLabel, yLabel, series, format, note, domain = [0, 1] }: CurveChartProps) {
  const rows = series.flatMap(({ key, label: name, color, points: [point] }) =>
    point === undefined
      ? []
      : [{ key, label: `${name}, ${xLabel.toLowerCase()} ${point.x}`, color, ...point }],
  );
  return (
    <IntervalDots
      label={label}
      rowLabel={xLabel}
      valueLabel={yLabel}
      rows={rows}
      domain={domain}
      format={format}
      note={note}
    />
  );
}

function curveTable(
  { xLabel, series }: CurveChartProps,
  xs: readonly number[],
  shape: CurveShape,
): FiguresTable {
  return {
    header: [
      xLabel,
      ...series.flatMap(({ label }) => [label, `${label}: lower`, `${label}: upper`, `${label}: of`]),
    ],
    rows: xs.map((x) => ({
      name: String(x),
      cells: series.flatMap((one) => {
        const { value, lower, upper, basis } = pointAt(one, x, shape) ?? {};
        return [value, lower, upper, basis];
      }),
    })),
  };
}
