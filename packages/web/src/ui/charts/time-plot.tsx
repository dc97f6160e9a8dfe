import { Area, Bar, CartesianGrid, ComposedChart, Line, ReferenceDot, Tooltip, XAxis, YAxis } from "recharts";
import type { Step } from "../../data/figures/period.ts";
import {
  type ChartPoint,
  type ChartSeries,
  findLonePoints,
  findPeaks,
  formatChartValue,
} from "./chart-series.ts";
import { ChartSwatch } from "./chart-swatch.tsx";
import { formatStep, formatStepShort } from "./format-step.ts";

export interface TimePlotProps {
  /** For screen readers. */
  label: string;
  step: Step;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  format(value: number): string;
  /** For the axis, where space is limited. */
  formatTick(value: number): string;
  /** The upper end of the axis; absent: from the data. What is higher ends there with a mark. */
  greatest?: number | undefined;
  /** All values are integers. */
  isWhole?: boolean;
}

const tickStyle = { fill: "var(--ink-3)", fontSize: 12 };

export function TimePlot(props: TimePlotProps) {
  const { label, step, series, points, format, formatTick, greatest, isWhole = false } = props;
  return (
    <ComposedChart
      responsive
      data={[...points]}
      aria-label={label}
      margin={{ top: 8, right: 8, bottom: 0, left: 0 }}
      barCategoryGap="20%"
      style={{ width: "100%", height: "100%" }}
    >
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <XAxis
        dataKey="startMs"
        scale="band"
        tickFormatter={(startMs: number) => formatStepShort(startMs, step)}
        tick={tickStyle}
        tickLine={false}
        axisLine={{ stroke: "var(--line-strong)" }}
        minTickGap={24}
        tickMargin={6}
        height={28}
      />
      <YAxis
        width={54}
        tickCount={5}
        allowDecimals={!isWhole}
        domain={[0, greatest ?? "auto"]}
        allowDataOverflow={greatest !== undefined}
        tickFormatter={(value: number) => (value === 0 ? "0" : formatTick(value))}
        tick={tickStyle}
        tickLine={false}
        axisLine={false}
      />
      <Tooltip
        isAnimationActive={false}
        cursor={{ stroke: "var(--ink-3)", strokeDasharray: "2 3" }}
        content={({ active, payload }) => {
          const point = payload[0]?.payload as ChartPoint | undefined;
          if (!active || point === undefined) return null;
          return <ChartTooltip point={point} step={step} series={series} format={format} />;
        }}
      />
      {series.map((one) => drawSeries(one, points))}
      {greatest !== undefined &&
        findPeaks(points, series, greatest).map(({ startMs, value, isLate }) => (
          <ReferenceDot
            key={startMs}
            x={startMs}
            y={greatest}
            r={0}
            label={{
              value: `▲ ${formatTick(value)}`,
              position: isLate ? "left" : "right",
              fontSize: 11,
              fill: "var(--ink)",
            }}
          />
        ))}
    </ComposedChart>
  );
}

const maxDots = 31;

function drawSeries({ key, label, color, shape, isDashed }: ChartSeries, points: readonly ChartPoint[]) {
  const shared = { dataKey: `values.${key}`, name: label, isAnimationActive: false } as const;
  const lonePoints = findLonePoints(points, key);
  if (shape === "bar") return <Bar key={key} {...shared} stackId="all" fill={color} maxBarSize={40} />;
  if (shape === "line") {
    const dots = points.length <= maxDots ? new Set(points) : lonePoints;
    return (
      <Line
        key={key}
        {...shared}
        stroke={color}
        strokeWidth={1.75}
        {...(isDashed && { strokeDasharray: "5 3" })}
        dot={({ key, cx, cy, payload }) =>
          cy != null && dots.has(payload) ? (
            <circle key={key} cx={cx} cy={cy} r="2" fill={color} />
          ) : (
            <g key={key} />
          )
        }
        activeDot={{ r: 4, strokeWidth: 0 }}
      />
    );
  }
  const band = { fill: color, fillOpacity: 0.18, stroke: "none" };
  return [
    <Area key={key} {...shared} {...band} activeDot={false} />,
    // An area needs two points: an isolated point shows its interval as a bar.
    <Bar
      key={`${key}, alone`}
      name={label}
      dataKey={(point: ChartPoint) => (lonePoints.has(point) ? point.values[key] : null)}
      isAnimationActive={false}
      barSize={6}
      {...band}
    />,
  ];
}

interface ChartTooltipProps {
  point: ChartPoint;
  step: Step;
  series: readonly ChartSeries[];
  format(value: number): string;
}

function ChartTooltip({ point, step, series, format }: ChartTooltipProps) {
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
