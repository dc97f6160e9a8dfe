import { PlaceAxis } from "./axes.tsx";
import { type CurveSeries, type CurveShape, curvePaths, pointAt } from "./curve.ts";
import type { CurveChartProps } from "./curve-chart.tsx";
import { type Plot, PlotFrame } from "./plot-frame.tsx";
import type { Readout, ReadoutRow } from "./plot-readout.tsx";
import { niceTicks, type Range } from "./scale.ts";

type ColoredSeries = CurveSeries & { color: string };

interface CurvePlotProps extends CurveChartProps {
  series: readonly ColoredSeries[];
  domain: Range;
  /** At least two. */
  xs: readonly number[];
  shape: CurveShape;
}

const margin = { left: 48, right: 12, top: 8, bottom: 36 };
/** Room for one label of the horizontal axis. */
const tickWidth = 64;

/** Curves with their bands. */
export function CurvePlot(props: CurvePlotProps) {
  const { label, xLabel, series, domain, xs, shape, format, formatTick = format } = props;
  const ends: Range = [xs[0] ?? 0, xs.at(-1) ?? 0];
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
          <XAxis plot={plot} label={xLabel} ends={ends} />
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

function XAxis({ plot: { area, toX }, label, ends }: { plot: Plot; label: string; ends: Range }) {
  const ticks = niceTicks(ends, (area.right - area.left) / tickWidth, true);
  return (
    <>
      <PlaceAxis area={area} labels={ticks.map((x) => ({ x: toX(x), text: String(x) }))} />
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

function readAt({ xLabel, series, shape, format }: CurvePlotProps, x: number): Readout {
  const rows = series.map((one): ReadoutRow => {
    const { key, label, color, isDashed = false } = one;
    const look = { key, label, color, shape: "line", isDashed } as const;
    const { value, lower, upper, basis } = pointAt(one, x, shape) ?? { value: null };
    if (value === null) return { ...look, value };
    const interval = lower == null || upper == null ? [] : [`${format(lower)} – ${format(upper)}`];
    const details = basis === undefined ? interval : [...interval, basis];
    return { ...look, value: format(value), details, dot: value };
  });
  return { title: `${xLabel} ${x}`, rows };
}
