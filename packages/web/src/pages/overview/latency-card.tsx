import type { Latency } from "@presage/sdk";
import { type Step, stepStartsMs } from "../../data/figures/period.ts";
import type { ComparedLatency } from "../../data/usage.ts";
import { formatDuration } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import { Fact } from "../../ui/fact.tsx";

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
  if (points.filter(({ values }) => values.p50 !== null).length === 1) {
    return <OnlyStep step={step} figures={overall[measure]} />;
  }
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

/** One point makes no line. */
function OnlyStep({ step, figures }: { step: Step; figures: Latency[Measure] }) {
  return (
    <div className="flex flex-col gap-3 p-4 text-sm">
      <dl className="flex gap-8">
        <Fact look="stacked" name="Median">
          {figures && formatDuration(figures.p50)}
        </Fact>
        <Fact look="stacked" name="p95">
          {figures && formatDuration(figures.p95)}
        </Fact>
      </dl>
      <p className="text-ink-3">
        All predictions of this period were made in one {step}. With a second one, a chart is shown here.
      </p>
    </div>
  );
}
