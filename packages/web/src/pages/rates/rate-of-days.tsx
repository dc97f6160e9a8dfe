import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { type RateByDay, rateByDayQuery, summaryRefreshMs } from "../../data/evaluation/summaries.ts";
import { type Period, stepStartsMs } from "../../data/figures/period.ts";
import { nameRate, verdictsOf } from "../../data/figures/rate-group.ts";
import { usePresage } from "../../data/use-presage.ts";
import { explainInterval } from "../../format/describe-rate.ts";
import { formatShare } from "../../format/format-number.ts";
import type { ChartPoint } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { OnlyDay } from "./only-day.tsx";

/** The pass rate of one evaluator with one revision of a profile, by UTC day. */
export function RateOfDays({ period, rate }: { period: Period; rate: EvaluationSummaryGroup }) {
  const presage = usePresage();
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...rateByDayQuery(presage, period, rate.key),
    refetchInterval: summaryRefreshMs,
    placeholderData: keepPreviousData,
  });
  if (data === undefined && error !== null) {
    return (
      <div className="p-4">
        <ErrorNotice error={error} onRetry={refetch} />
      </div>
    );
  }
  if (data === undefined) return <ChartSkeleton />;
  const [only, ...others] = data.days.filter((figures) => verdictsOf(figures) > 0);
  if (only !== undefined && others.length === 0) return <OnlyDay figures={only} />;
  return (
    <div
      className={clsx("flex min-h-0 flex-1 flex-col", isPlaceholderData && "opacity-60")}
      title={explainInterval(rate)}
    >
      <TimeChart
        label={`Pass rate by day of ${nameRate(rate.key)}`}
        step="day"
        points={pointsOf(data)}
        series={[
          {
            key: "rate",
            label: "Pass rate",
            color: "var(--chart-1)",
            shape: "line",
            total: formatShare(rate.pass_rate),
          },
          { key: "interval", label: "95 % interval", color: "var(--chart-1)", shape: "band" },
        ]}
        format={formatShare}
        formatTick={(share) => `${Math.round(share * 100)} %`}
        greatest={1}
      />
    </div>
  );
}

function pointsOf({ since, untilMs, days }: RateByDay): ChartPoint[] {
  const figuresOf = new Map(days.map((figures) => [figures.key.day, figures]));
  const firstDay = since.slice(0, "2026-01-01".length);
  return stepStartsMs(firstDay, "day", untilMs).map((startMs): ChartPoint => {
    const figures = figuresOf.get(new Date(startMs).toISOString().slice(0, firstDay.length));
    const interval = figures?.pass_rate_interval;
    return {
      startMs,
      values: {
        rate: figures?.pass_rate ?? null,
        interval: interval ? [interval.lower, interval.upper] : null,
      },
    };
  });
}
