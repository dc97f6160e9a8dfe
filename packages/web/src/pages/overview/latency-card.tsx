import type { Latency } from "@presage/sdk";
import { clipPeaks } from "../../data/figures/clip-peaks.ts";
import { type Step, stepStartsMs } from "../../data/figures/period.ts";
import type { ComparedLatency } from "../../data/usage.ts";
import { formatDuration } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";

export function LatencyCard({ latency }: { latency: ComparedLatency | undefined }) {
  return (
    <Card title="Latency" hint="From request to response." className="flex h-80 flex-col">
      {latency === undefined ? <ChartSkeleton /> : <LatencyChart {...latency.current} />}
    </Card>
  );
}

function LatencyChart({ since, until, step, data, overall }: ComparedLatency["current"]) {
  const figuresOf = new Map(data.map((row) => [Date.parse(row.start), row.total_ms]));
  const points = stepStartsMs(since, step, Date.parse(until)).map((startMs): ChartPoint => {
    const figures = figuresOf.get(startMs);
    return { startMs, values: { p50: figures?.p50 ?? null, p95: figures?.p95 ?? null } };
  });
  const total = (quantile: "p50" | "p95"): Pick<ChartSeries, "total"> => {
    const figures = overall.total_ms;
    return figures === null ? {} : { total: formatDuration(figures[quantile]) };
  };
  if (points.filter(({ values }) => values.p50 !== null).length === 1) {
    return <OnlyStep step={step} figures={overall.total_ms} />;
  }
  return (
    <TimeChart
      label="Latency"
      step={step}
      points={points}
      series={[
        { key: "p50", label: "Median", color: "var(--chart-1)", shape: "line", ...total("p50") },
        { key: "p95", label: "p95", color: "var(--chart-1)", shape: "line", isDashed: true, ...total("p95") },
      ]}
      format={formatDuration}
      formatTick={formatDuration}
      greatest={clipPeaks(points.flatMap(({ values }) => Number(values.p95 ?? 0)))}
    />
  );
}

/** One point makes no line: bars, from 0 to the longer one. */
function OnlyStep({ step, figures }: { step: Step; figures: Latency["total_ms"] }) {
  const bars =
    figures === null
      ? []
      : [
          { name: "Median", ms: figures.p50, className: "bg-(--chart-1)" },
          { name: "p95", ms: figures.p95, className: "bg-(--chart-1) opacity-50" },
        ];
  return (
    <div className="flex flex-1 flex-col justify-center gap-4 p-4 text-sm">
      <dl className="flex flex-col gap-3">
        {bars.map(({ name, ms, className }) => (
          <div key={name} className="grid grid-cols-[4rem_1fr_5rem] items-center gap-3">
            <dt className="text-ink-2">{name}</dt>
            <dd aria-hidden className="h-4 rounded bg-sunken">
              <div
                className={`h-4 rounded ${className}`}
                style={{ width: `${(ms / Math.max(...bars.map((bar) => bar.ms), 0.001)) * 100}%` }}
              />
            </dd>
            <dd className="text-right font-medium tabular-nums">{formatDuration(ms)}</dd>
          </div>
        ))}
      </dl>
      <p className="text-xs text-ink-3">
        All requests of this period were made in one {step}. With a second one, a chart is shown here.
      </p>
    </div>
  );
}
