import type { ChartPoint, ChartSeries } from "../chart-series.ts";
import { type CurvePoint, curvePaths } from "../plot/curve.ts";
import type { Plot } from "../plot/plot-frame.tsx";
import { type StackedBar, stackBars } from "./heights.ts";

interface TimeMarksProps {
  plot: Plot;
  points: readonly ChartPoint[];
  series: readonly ChartSeries[];
  /** The upper end of the axis. */
  top: number;
}

/** Room for the half of a line or a dot that is outside of the plot. */
const overhang = 4;

/** All series, later ones above earlier ones, without what is above the axis. Each is one element, and its dots. */
export function TimeMarks({ plot, points, series, top }: TimeMarksProps) {
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
  // An area needs two points: an isolated one shows its interval as a bar.
  const bars = lone.flatMap(({ x, lower, upper }) =>
    lower == null || upper == null ? [] : [barPath(toX(x), loneWidth, toY(lower), toY(upper))],
  );
  return <path d={band + bars.join("")} fill={color} fillOpacity="0.18" />;
}

/** A value is the lower end of an interval where it is one. */
function curveOf(points: readonly ChartPoint[], key: string): CurvePoint[] {
  return points.map(({ values }, x) => {
    const value = values[key] ?? null;
    if (value === null || typeof value === "number") return { x, value };
    const [lower, upper] = value;
    return { x, value: lower, lower, upper };
  });
}

const greatestBarWidth = 40;

export function barWidth({ area: { left, right } }: Plot, pointCount: number): number {
  return Math.min(greatestBarWidth, ((right - left) / Math.max(1, pointCount)) * 0.6);
}

function barsPath(bars: readonly StackedBar[], { toX, toY }: Plot, width: number): string {
  return bars.map(({ index, from, to }) => barPath(toX(index), width, toY(from), toY(to))).join("");
}

function barPath(middle: number, width: number, bottom: number, top: number): string {
  const [x, y] = [middle - width / 2, top].map((one) => one.toFixed(1));
  return `M${x},${y}h${width.toFixed(1)}v${(bottom - top).toFixed(1)}h${(-width).toFixed(1)}Z`;
}
