import { Area, Bar, CartesianGrid, ComposedChart, Line, Tooltip, XAxis, YAxis } from "recharts";
import type { Step } from "../../text/period.ts";
import type { ChartPoint, ChartSeries } from "./chart-series.ts";
import { ChartTooltip } from "./chart-tooltip.tsx";
import { formatStepShort } from "./format-step.ts";

export interface TimePlotProps {
  /** What it shows, for those who cannot see it. */
  label: string;
  step: Step;
  series: readonly ChartSeries[];
  points: readonly ChartPoint[];
  format(value: number): string;
  /** On the axis, where there is little room. */
  formatTick(value: number): string;
  /** The axis’ upper end, where it is known beforehand. */
  greatest?: number;
}

const tickStyle = { fill: "var(--ink-3)", fontSize: 12 };
const mostDots = 31;

/** The picture itself. It comes with Recharts, which is loaded when the first chart is shown. */
export function TimePlot({ label, step, series, points, format, formatTick, greatest }: TimePlotProps) {
  const hasDots = points.length <= mostDots;
  return (
    <ComposedChart
      responsive
      data={[...points]}
      title={label}
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
        width={52}
        tickCount={4}
        allowDecimals={greatest !== undefined}
        domain={[0, greatest ?? "auto"]}
        tickFormatter={formatTick}
        tick={tickStyle}
        tickLine={false}
        axisLine={false}
      />
      <Tooltip
        isAnimationActive={false}
        cursor={{ fill: "var(--hover)", stroke: "var(--line-strong)", fillOpacity: 0.6 }}
        content={({ active, payload }) => {
          const point = payload[0]?.payload as ChartPoint | undefined;
          if (!active || point === undefined) return null;
          return <ChartTooltip point={point} step={step} series={series} format={format} />;
        }}
      />
      {series.map(({ key, label, color, shape, isDashed }) => {
        const shared = { dataKey: `values.${key}`, name: label, isAnimationActive: false } as const;
        if (shape === "bar") return <Bar key={key} {...shared} stackId="all" fill={color} maxBarSize={40} />;
        if (shape === "band") {
          return (
            <Area key={key} {...shared} fill={color} fillOpacity={0.18} stroke="none" activeDot={false} />
          );
        }
        return (
          <Line
            key={key}
            {...shared}
            stroke={color}
            strokeWidth={1.75}
            {...(isDashed && { strokeDasharray: "5 3" })}
            dot={hasDots && { r: 2, fill: color, strokeWidth: 0 }}
            activeDot={{ r: 4, strokeWidth: 0 }}
          />
        );
      })}
    </ComposedChart>
  );
}
