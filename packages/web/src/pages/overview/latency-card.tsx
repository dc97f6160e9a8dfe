import { stepStartsMs } from "../../data/period.ts";
import type { ComparedLatency } from "../../data/usage.ts";
import { formatDuration } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";

type Measure = "total_ms" | "overhead_ms";

interface LatencyCardProps {
  latency: ComparedLatency | undefined;
  title: string;
  hint: string;
  measure: Measure;
  color: string;
}

export function LatencyCard({ latency, title, hint, measure, color }: LatencyCardProps) {
  return (
    <Card title={title} hint={hint}>
      {latency === undefined ? (
        <ChartSkeleton />
      ) : (
        <LatencyChart {...latency.current} label={title} measure={measure} color={color} />
      )}
    </Card>
  );
}

interface LatencyChartProps extends Pick<LatencyCardProps, "measure" | "color"> {
  label: string;
}

function LatencyChart({
  since,
  until,
  step,
  data,
  overall,
  label,
  measure,
  color,
}: ComparedLatency["current"] & LatencyChartProps) {
  const figuresOf = new Map(data.map((row) => [Date.parse(row.start), row[measure]]));
  const points = stepStartsMs(since, step, Date.parse(until)).map((startMs): ChartPoint => {
    const figures = figuresOf.get(startMs);
    return { startMs, values: { p50: figures?.p50 ?? null, p95: figures?.p95 ?? null } };
  });
  const total = (quantile: "p50" | "p95"): Pick<ChartSeries, "total"> => {
    const figures = overall[measure];
    return figures === null ? {} : { total: formatDuration(figures[quantile]) };
  };
  return (
    <TimeChart
      label={label}
      step={step}
      points={points}
      series={[
        { key: "p50", label: "Median", color, shape: "line", ...total("p50") },
        { key: "p95", label: "p95", color, shape: "line", isDashed: true, ...total("p95") },
      ]}
      format={formatDuration}
      formatTick={formatDuration}
    />
  );
}
