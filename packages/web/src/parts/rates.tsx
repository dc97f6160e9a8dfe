import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { usePresage } from "../data/client.ts";
import {
  nameRate,
  profileOf,
  type RateByDay,
  rateByDayQuery,
  rateId,
  sortRates,
  summaryRefreshMs,
  verdictsOf,
} from "../data/summaries.ts";
import { explainInterval, formatPercent, formatShare } from "../format/numbers.ts";
import { type Period, stepStartsMs } from "../format/times.ts";
import { shortEvaluatorNames } from "../format/words.ts";
import { Card } from "../ui/card.tsx";
import { TimeChart } from "../ui/charts/time-chart.tsx";
import type { ChartPoint } from "../ui/charts/time-series.ts";
import { Select } from "../ui/form/select.tsx";
import { ErrorNotice } from "../ui/notice.tsx";

interface RateByDayCardProps {
  period: Period;
  /** At least one has verdicts. */
  rates: readonly EvaluationSummaryGroup[];
  title: string;
  /** The id of the chosen rate; if undefined or unknown, the rate with the most verdicts is shown. */
  chosen: string | undefined;
  onChoose(id: string): void;
}

/** The rate of one evaluator and profile: a mixed rate would change with how often each is used. A single day is no line. */
export function RateByDayCard({ period, rates: all, title, chosen, onChoose }: RateByDayCardProps) {
  const rates = sortRates(all).filter((figures) => verdictsOf(figures) > 0);
  const nameOf = shortEvaluatorNames(rates.map(({ key }) => key.evaluator_id ?? ""));
  const rate = rates.find(({ key }) => rateId(key) === chosen) ?? rates[0];
  const presage = usePresage();
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...rateByDayQuery(presage, period, rate?.key ?? {}),
    enabled: rate !== undefined,
    refetchInterval: summaryRefreshMs,
    placeholderData: keepPreviousData,
  });
  if (error !== null && data === undefined) return <ErrorNotice error={error} onRetry={refetch} />;
  const days = data?.days.filter((figures) => verdictsOf(figures) > 0) ?? [];
  if (rate === undefined || data === undefined || (days.length < 2 && rates.length < 2)) return null;
  return (
    <Card
      title={title}
      hint="Of direct evaluations, by UTC day, with 95&nbsp;% confidence intervals."
      className="flex h-100 flex-col md:h-84"
      actions={
        rates.length > 1 && (
          <Select
            aria-label="Evaluator and profile"
            className="max-w-full"
            value={rateId(rate.key)}
            options={rates.map(({ key }) => ({
              value: rateId(key),
              label: [nameOf(key.evaluator_id ?? ""), profileOf(key)].filter(Boolean).join(", "),
            }))}
            onChange={onChoose}
          />
        )
      }
    >
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
              color: "var(--color-chart-1)",
              shape: "line",
              total: formatShare(rate.pass_rate),
            },
            { key: "interval", label: "95\u00a0% interval", color: "var(--color-chart-1)", shape: "band" },
          ]}
          format={formatShare}
          formatTick={formatPercent}
          greatest={1}
        />
      </div>
    </Card>
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
