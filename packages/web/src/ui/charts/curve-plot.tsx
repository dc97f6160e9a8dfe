import type { ReactNode } from "react";
import { PlaceAxis } from "./axes.tsx";
import { type CurveSeries, type CurveShape, curvePaths, placesOf, pointAt } from "./curve.ts";
import { ChartFigure, type FiguresTable } from "./figures-table.tsx";
import { IntervalTable } from "./interval-table.tsx";
import { ChartLegend } from "./legend.tsx";
import { type Plot, PlotFrame, type Readout, type ReadoutRow } from "./plot-frame.tsx";
import { niceTicks, type Range } from "./scale.ts";

interface CurveChartProps {
  shape: CurveShape;
  /** The chart's name, also for screen readers. */
  label: string;
  /** What the places are, for example “Step”. */
  xLabel: string;
  /** Names a place; its number if absent. */
  formatX?(x: number): string;
  /** What the values are, for example “Pass rate”. */
  yLabel: string;
  series: readonly CurveSeries[];
  /** The range of the values; 0 to 1 if absent. */
  domain?: Range | undefined;
  format(value: number): string;
  /** Formats values for the axis, where space is limited. */
  formatTick?(value: number): string;
  /** What the figures are and how their intervals were made. */
  note?: ReactNode;
}

/** Curves with their intervals as bands. The figures are also there as a table, and can be copied. */
export function CurveChart(props: CurveChartProps) {
  const series = props.series.map((one, index) => ({
    ...one,
    color: one.color ?? `var(--color-chart-${(index % 6) + 1})`,
  }));
  const xs = placesOf(series);
  // A curve with a single place would be a lone dot.
  if (xs.length < 2) return <OnePlace {...props} series={series} />;
  return (
    <ChartFigure
      label={props.label}
      note={props.note}
      format={props.format}
      table={curveTable(props, xs)}
      legend={<ChartLegend series={series.map(lookOf)} />}
    >
      <CurvePlot {...props} domain={props.domain ?? [0, 1]} series={series} xs={xs} />
    </ChartFigure>
  );
}

type ColoredSeries = CurveSeries & { color: string };

function lookOf({ key, label, color, isDashed = false }: ColoredSeries) {
  return { key, label, color, shape: "line", isDashed } as const;
}

function OnePlace(props: CurveChartProps) {
  const { label, xLabel, formatX = String, yLabel, series, format, note, domain = [0, 1] } = props;
  const rows = series.flatMap(({ key, label: name, color, points: [point] }) =>
    point === undefined
      ? []
      : [{ key, label: `${name}, ${xLabel.toLowerCase()} ${formatX(point.x)}`, color, ...point }],
  );
  return (
    <IntervalTable
      mark="dot"
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
  { xLabel, formatX = String, series, shape }: CurveChartProps,
  xs: readonly number[],
): FiguresTable {
  return {
    header: [
      xLabel,
      ...series.flatMap(({ label }) => [label, `${label}: lower`, `${label}: upper`, `${label}: of`]),
    ],
    rows: xs.map((x) => ({
      name: formatX(x),
      cells: series.flatMap((one) => {
        const { value, lower, upper, basis } = pointAt(one, x, shape) ?? {};
        return [value, lower, upper, basis];
      }),
    })),
  };
}

interface CurvePlotProps extends CurveChartProps {
  series: readonly ColoredSeries[];
  domain: Range;
  /** At least two. */
  xs: readonly number[];
}

const margin = { left: 48, right: 12, top: 8, bottom: 36 };
/** Room for one label of the horizontal axis. */
const tickWidth = 64;
const mostInTick = 10;

/** Names in a series differ at the end. */
function shortened(name: string): string {
  return name.length > mostInTick ? `…${name.slice(1 - mostInTick)}` : name;
}

/** Curves with their bands. */
function CurvePlot(props: CurvePlotProps) {
  const { label, xLabel, formatX, series, domain, xs, shape, format, formatTick = format } = props;
  const [first = 0, last = first] = [xs[0], xs.at(-1)];
  // Half of the last name extends past its place.
  const room = formatX === undefined ? 0 : (last - first) / 8;
  const ends: Range = [first - room, last + room];
  return (
    <PlotFrame
      label={`${label}, by ${xLabel.toLowerCase()}`}
      places={xs}
      ends={ends}
      domain={domain}
      ticks={niceTicks(domain, 4)}
      formatTick={formatTick}
      margin={margin}
      read={(x) => readAt(props, x)}
      draw={(plot) => (
        <>
          <XAxis plot={plot} label={xLabel} ends={ends} format={formatX} />
          {series.map((one) => (
            <Curve key={one.key} series={one} shape={shape} plot={plot} />
          ))}
        </>
      )}
    />
  );
}

interface CurveProps {
  series: ColoredSeries;
  shape: CurveShape;
  plot: Plot;
}

function Curve({ series: { points, color, isDashed = false }, shape, plot: { toX, toY } }: CurveProps) {
  const { line, sure, band, lone } = curvePaths(points, shape, toX, toY);
  return (
    <g stroke={color} fill={color}>
      <path d={band} fillOpacity="0.15" stroke="none" />
      <path
        d={line}
        fill="none"
        strokeWidth="1.25"
        strokeLinejoin="round"
        strokeOpacity={sure === "" ? 1 : 0.4}
        strokeDasharray={isDashed ? "5 3" : undefined}
      />
      <path d={sure} fill="none" strokeWidth="2" strokeLinejoin="round" />
      {lone.map(({ x, value, lower, upper }) => (
        <g key={x}>
          {lower != null && upper != null && (
            <line x1={toX(x)} x2={toX(x)} y1={toY(lower)} y2={toY(upper)} strokeWidth="1.5" />
          )}
          <circle cx={toX(x)} cy={toY(value ?? 0)} r="2.5" stroke="none" />
        </g>
      ))}
    </g>
  );
}

interface XAxisProps {
  plot: Plot;
  label: string;
  ends: Range;
  format: CurveChartProps["formatX"];
}

function XAxis({ plot: { area, toX }, label, ends, format = String }: XAxisProps) {
  const ticks = niceTicks(ends, (area.right - area.left) / tickWidth, true);
  return (
    <>
      <PlaceAxis area={area} labels={ticks.map((x) => ({ x: toX(x), text: shortened(format(x)) }))} />
      <text
        x={(area.left + area.right) / 2}
        y={area.bottom + 32}
        textAnchor="middle"
        className="fill-ink-3 text-[12px]"
      >
        {label}
      </text>
    </>
  );
}

function readAt({ xLabel, formatX = String, series, shape, format }: CurvePlotProps, x: number): Readout {
  const rows = series.map((one): ReadoutRow => {
    const look = lookOf(one);
    const { value, lower, upper, basis } = pointAt(one, x, shape) ?? { value: null };
    if (value === null) return { ...look, value };
    const interval = lower == null || upper == null ? [] : [`${format(lower)} – ${format(upper)}`];
    const details = basis === undefined ? interval : [...interval, basis];
    return { ...look, value: format(value), details, dot: value };
  });
  return { title: `${xLabel} ${formatX(x)}`, rows };
}
