import type { Step } from "../../format/times.ts";
import { PlaceAxis, placeLabels } from "./axes.tsx";
import { type CurvePoint, curvePaths } from "./curve.ts";
import { type Plot, PlotFrame, type Readout } from "./plot-frame.tsx";
import { niceEnd, niceTicks, type Range } from "./scale.ts";
import {
  type ChartPoint,
  type ChartSeries,
  formatChartValue,
  formatStep,
  formatStepShort,
  highestOf,
  type StackedBar,
  stackBars,
} from "./time-series.ts";

export interface TimePlotProps {
  /** The chart's name for screen readers. */
  label: string;
  step: Step;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  format(value: number): string;
  /** Formats values for the axis, where space is limited. */
  formatTick(value: number): string;
  /** The upper end of the axis; if absent, it follows from the data. */
  greatest?: number | undefined;
  /** All values are integers. */
  isWhole?: boolean;
}

const margin = { left: 54, right: 8, top: 8, bottom: 24 };
const wantedTicks = 5;

/** Bars, lines and bands over time. */
export function TimePlot(props: TimePlotProps) {
  const { label, step, series, points, formatTick, greatest, isWhole } = props;
  const highest = highestOf(points, series);
  const domain: Range = [0, greatest ?? niceEnd(highest, wantedTicks, isWhole)];
  // An axis without values has no scale.
  const ticks = highest === 0 ? [0] : niceTicks(domain, wantedTicks, isWhole);
  return (
    <PlotFrame
      label={label}
      places={points.map((_, index) => index)}
      ends={[-0.5, points.length - 0.5]}
      domain={domain}
      ticks={ticks}
      formatTick={(value) => (value === 0 ? "0" : formatTick(value))}
      margin={margin}
      read={(index) => readAt(props, points[index])}
      draw={(plot) => (
        <>
          <TimeMarks plot={plot} points={points} series={series} top={domain[1]} />
          <TimeAxis plot={plot} points={points} step={step} />
        </>
      )}
    />
  );
}

function TimeAxis({ plot, points, step }: { plot: Plot } & Pick<TimePlotProps, "points" | "step">) {
  const texts = points.map(({ startMs }) => formatStepShort(startMs, step));
  return <PlaceAxis area={plot.area} labels={placeLabels(texts, plot.toX, plot.area.right + margin.right)} />;
}

function readAt({ series, step, format }: TimePlotProps, point: ChartPoint | undefined): Readout {
  const rows = series.map(({ key, label, color, shape, isDashed = false }) => {
    const value = point?.values[key] ?? null;
    return {
      key,
      label,
      color,
      shape,
      isDashed,
      value: value === null ? null : formatChartValue(value, format),
      dot: shape === "line" && typeof value === "number" ? value : null,
    };
  });
  return { title: point === undefined ? "" : formatStep(point.startMs, step), rows };
}

interface TimeMarksProps {
  plot: Plot;
  points: readonly ChartPoint[];
  series: readonly ChartSeries[];
  /** The upper end of the axis. */
  top: number;
}

/** Room for the half of a line or a dot that extends past the plot. */
const overhang = 4;

/** All series, later ones above earlier ones, clipped at the axis. Each is one element, plus its dots. */
function TimeMarks({ plot, points, series, top }: TimeMarksProps) {
  const { left, right, top: upper, bottom } = plot.area;
  const box = {
    x: left - overhang,
    y: upper - overhang,
    width: right - left + 2 * overhang,
    height: bottom - upper + 2 * overhang,
  };
  const stacks = stackBars(points, series, top);
  const width = barWidth(plot, points.length);
  return (
    <svg aria-hidden {...box} viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}>
      {series.map(({ key, color, shape, isDashed = false }) => {
        if (shape === "bar") {
          return <path key={key} d={barsPath(stacks.get(key) ?? [], plot, width)} fill={color} />;
        }
        const curve = curveOf(points, key);
        return shape === "line" ? (
          <Line key={key} curve={curve} plot={plot} color={color} isDashed={isDashed} />
        ) : (
          <Band key={key} curve={curve} plot={plot} color={color} />
        );
      })}
    </svg>
  );
}

interface CurveMarkProps {
  curve: readonly CurvePoint[];
  plot: Plot;
  color: string;
}

const mostDots = 31;

function Line({ curve, plot: { toX, toY }, color, isDashed }: CurveMarkProps & { isDashed: boolean }) {
  const { line, lone } = curvePaths(curve, "line", toX, toY);
  const dots = curve.length <= mostDots ? curve : lone;
  return (
    <g>
      <path
        d={line}
        fill="none"
        stroke={color}
        strokeWidth="1.75"
        strokeLinejoin="round"
        strokeDasharray={isDashed ? "5 3" : undefined}
      />
      {dots.map(({ x, value }) =>
        value === null ? null : <circle key={x} cx={toX(x)} cy={toY(value)} r="2" fill={color} />,
      )}
    </g>
  );
}

const loneWidth = 6;

function Band({ curve, plot: { toX, toY }, color }: CurveMarkProps) {
  const { band, lone } = curvePaths(curve, "line", toX, toY);
  // An area needs two points: an isolated point shows its interval as a bar.
  const bars = lone.flatMap(({ x, lower, upper }) =>
    lower == null || upper == null ? [] : [barPath(toX(x), loneWidth, toY(lower), toY(upper))],
  );
  return <path d={band + bars.join("")} fill={color} fillOpacity="0.18" />;
}

/** For an interval, the value is its lower end. */
function curveOf(points: readonly ChartPoint[], key: string): CurvePoint[] {
  return points.map(({ values }, x) => {
    const value = values[key] ?? null;
    if (value === null || typeof value === "number") return { x, value };
    const [lower, upper] = value;
    return { x, value: lower, lower, upper };
  });
}

const greatestBarWidth = 40;

function barWidth({ area: { left, right } }: Plot, pointCount: number): number {
  return Math.min(greatestBarWidth, ((right - left) / Math.max(1, pointCount)) * 0.6);
}

function barsPath(bars: readonly StackedBar[], { toX, toY }: Plot, width: number): string {
  return bars.map(({ index, from, to }) => barPath(toX(index), width, toY(from), toY(to))).join("");
}

function barPath(middle: number, width: number, bottom: number, top: number): string {
  const [x, y] = [middle - width / 2, top].map((one) => one.toFixed(1));
  return `M${x},${y}h${width.toFixed(1)}v${(bottom - top).toFixed(1)}h${(-width).toFixed(1)}Z`;
}
