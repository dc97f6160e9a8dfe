import type { Latency, UsageFailure } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed } from "lucide-react";
import type { ComparedLatency, ComparedUsage } from "../../data/usage.ts";
import { groupByStep, isPrediction, rankFailures, shareOf, sumUsage } from "../../data/usage.ts";
import { failureLabels } from "../../format/errors.ts";
import { formatCount, formatDuration, formatShare, formatShortCount } from "../../format/numbers.ts";
import { type Period, type Step, stepStartsMs } from "../../format/times.ts";
import { categories } from "../../parts/predictions.ts";
import { Card } from "../../ui/card.tsx";
import { clipPeaks } from "../../ui/charts/scale.ts";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/time-series.ts";
import { EmptyState } from "../../ui/notice.tsx";
import { ChartSkeleton, SkeletonRows } from "../../ui/skeleton.tsx";

export function PredictionsCard({ usage }: { usage: ComparedUsage | undefined }) {
  return (
    <Card
      title="Requests"
      hint={usage?.current.step === "hour" ? "By hour, in your time zone." : "By UTC day."}
      className="flex h-80 flex-col"
    >
      {usage === undefined ? <ChartSkeleton /> : <PredictionsChart {...usage.current} />}
    </Card>
  );
}

function PredictionsChart({ since, until, step, data }: ComparedUsage["current"]) {
  const rows = data.filter(isPrediction);
  const all = sumUsage(rows);
  const rowsOfStep = groupByStep(rows);
  const points = stepStartsMs(since, step, Date.parse(until)).map((startMs): ChartPoint => {
    const { requests, failed } = sumUsage(rowsOfStep.get(startMs) ?? []);
    return { startMs, values: { answered: requests - failed, failed } };
  });
  return (
    <TimeChart
      label="Requests over time"
      step={step}
      points={points}
      series={[
        {
          key: "answered",
          label: "Succeeded",
          color: "var(--chart-1)",
          shape: "bar",
          total: formatCount(all.requests - all.failed),
        },
        {
          key: "failed",
          label: "Failed",
          color: "var(--fail)",
          shape: "bar",
          total: formatCount(all.failed),
        },
      ]}
      format={formatCount}
      formatTick={formatShortCount}
      // One large import must not flatten the rest.
      greatest={clipPeaks(points.map(({ values }) => Number(values.answered) + Number(values.failed)))}
      isWhole
    />
  );
}

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

export function FailuresCard({ usage }: { usage: ComparedUsage | undefined }) {
  return (
    <Card
      title="Errors by reason"
      hint="Click one to see those that are stored."
      className="flex h-80 flex-col"
    >
      <div className="min-h-0 flex-1 overflow-y-auto">
        {usage === undefined ? (
          <SkeletonRows count={4} className="h-8" />
        ) : (
          <Failures rows={usage.current.data.filter(isPrediction)} period={usage.period} />
        )}
      </div>
    </Card>
  );
}

function Failures({ rows, period }: { rows: ComparedUsage["current"]["data"]; period: Period }) {
  const { requests, failed } = sumUsage(rows);
  if (failed === 0) {
    return (
      <EmptyState
        icon={requests === 0 ? CircleDashed : CircleCheck}
        title={requests === 0 ? "No requests" : "No errors"}
      >
        {requests > 0 && `All ${formatCount(requests)} requests succeeded.`}
      </EmptyState>
    );
  }
  return (
    <ul className="flex flex-col gap-3 p-4">
      {rankFailures(rows).map(({ reason, count }) => (
        <li key={reason} className="flex flex-col gap-1 text-sm">
          <div className="flex justify-between gap-3">
            <Reason reason={reason} period={period} />
            <span className="whitespace-nowrap tabular-nums">
              {formatCount(count)} <span className="text-ink-3">{formatShare(shareOf(count, failed))}</span>
            </span>
          </div>
          <div aria-hidden className="h-1 rounded-full bg-sunken">
            <div className="h-1 rounded-full bg-fail" style={{ width: `${(count / failed) * 100}%` }} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Opens the log, which has no requests that were refused before a model was asked. */
function Reason({ reason, period }: { reason: UsageFailure; period: Period }) {
  const category = categories.find((known) => known === reason);
  if (category === undefined) {
    return (
      <span
        className="min-w-0 truncate"
        title="Not in the log of predictions: refused or cancelled before a model could respond."
      >
        {failureLabels[reason]}
      </span>
    );
  }
  return (
    <Link
      to="/predictions"
      search={{ source: "live", status: "failed", category, period }}
      className="-my-1 min-w-0 truncate py-1 text-accent-ink underline-offset-2 hover:underline"
    >
      {failureLabels[reason]}
    </Link>
  );
}
