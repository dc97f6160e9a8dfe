import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { ReactNode } from "react";
import { usePresage } from "../data/client.ts";
import {
  nameRate,
  profileOf,
  type RateByDay,
  rateByDayQuery,
  rateId,
  searchOfRate,
  sortRates,
  summaryRefreshMs,
  verdictsOf,
} from "../data/summaries.ts";
import {
  describeInterval,
  describeVerdicts,
  explainInterval,
  formatCount,
  formatPercent,
  formatScore,
  formatShare,
} from "../format/numbers.ts";
import { type Period, stepStartsMs } from "../format/times.ts";
import { shortEvaluatorNames } from "../format/words.ts";
import { Card } from "../ui/card.tsx";
import { IntervalBar } from "../ui/charts/sparkline.tsx";
import { TimeChart } from "../ui/charts/time-chart.tsx";
import type { ChartPoint } from "../ui/charts/time-series.ts";
import { formatStep } from "../ui/charts/time-series.ts";
import { Select } from "../ui/form/select.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { ChartSkeleton } from "../ui/skeleton.tsx";
import { Explained } from "../ui/tooltip.tsx";
import type { Verdict } from "./results/results-search.ts";

interface RateByDayCardProps {
  period: Period;
  /** Some have verdicts. */
  rates: readonly EvaluationSummaryGroup[];
  title: string;
  /** The id of the chosen rate; undefined or unknown: that with the most verdicts. */
  chosen: string | undefined;
  onChoose(id: string): void;
}

/** One evaluator and profile at a time: a rate of several would change with how often each is used. */
export function RateByDayCard({ period, rates: all, title, chosen, onChoose }: RateByDayCardProps) {
  const rates = sortRates(all).filter((figures) => verdictsOf(figures) > 0);
  const nameOf = shortEvaluatorNames(rates.map(({ key }) => key.evaluator_id ?? ""));
  const rate = rates.find(({ key }) => rateId(key) === chosen) ?? rates[0];
  return (
    <Card
      title={title}
      hint="Of direct evaluations, by UTC day, with 95&nbsp;% confidence intervals."
      className="flex h-100 flex-col md:h-84"
      actions={
        rate !== undefined && (
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
      {rate !== undefined && <RateOfDays period={period} rate={rate} />}
    </Card>
  );
}

/** The pass rate of one evaluator with one revision of a profile, by UTC day. */
function RateOfDays({ period, rate }: { period: Period; rate: EvaluationSummaryGroup }) {
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
          { key: "interval", label: "95\u00a0% interval", color: "var(--chart-1)", shape: "band" },
        ]}
        format={formatShare}
        formatTick={formatPercent}
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

const dayMs = 86_400_000;
const marks = ["0", formatPercent(0.5), formatPercent(1)];

/** One day makes no line: its rate on an axis with its interval, and what it is made of. */
function OnlyDay({ figures }: { figures: EvaluationSummaryGroup }) {
  const { pass_rate, pass_rate_interval: interval, passed, not_passed, failed, mean_score, key } = figures;
  const startMs = Date.parse(key.day ?? "");
  const day = {
    ...searchOfRate(key),
    since: new Date(startMs).toISOString(),
    until: new Date(startMs + dayMs).toISOString(),
  };
  const count = (value: number, verdict: Verdict) =>
    value === 0 ? (
      "0"
    ) : (
      <Link
        to="/evaluations"
        search={{ ...day, verdict }}
        className="text-accent-ink underline-offset-2 hover:underline"
      >
        {formatCount(value)}
      </Link>
    );
  return (
    <figure
      aria-label={`Pass rate by day of ${nameRate(key)}`}
      className="flex min-h-0 flex-1 flex-col justify-between gap-3 overflow-y-auto p-4"
    >
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-2xl font-semibold tracking-tight tabular-nums">{formatShare(pass_rate)}</span>
        <Explained text={explainInterval(figures)} className="text-sm text-ink-2">
          {interval === null ? "no interval" : `95\u00a0% interval ${describeInterval(interval)}`}
        </Explained>
        <span className="text-sm text-ink-3 sm:ml-auto">{formatStep(startMs, "day")}</span>
      </div>
      <Axis rate={pass_rate ?? 0} interval={interval} />
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        <Part name="Passed">{count(passed, "pass")}</Part>
        <Part name="Did not pass">{count(not_passed, "fail")}</Part>
        {/* Of two causes, each with a list of its own. */}
        <Part name="Without a verdict">{formatCount(failed)}</Part>
        <Part name="Mean score">{formatScore(mean_score)}</Part>
      </dl>
      <figcaption className="text-xs text-ink-3">
        {describeVerdicts(figures)}, all on one day. With a second day, a chart is shown here.
      </figcaption>
    </figure>
  );
}

/** From 0 to 100 %: the rate with its interval. */
function Axis({ rate, interval }: { rate: number; interval: EvaluationSummaryGroup["pass_rate_interval"] }) {
  const { lower, upper } = interval ?? { lower: rate, upper: rate };
  return (
    <div aria-hidden className="flex flex-col gap-1">
      <IntervalBar value={rate} lower={lower} upper={upper} />
      <div className="grid grid-cols-3 text-center text-xs text-ink-3 tabular-nums *:first:text-left *:last:text-right">
        {marks.map((mark) => (
          <span key={mark}>{mark}</span>
        ))}
      </div>
    </div>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-sm font-medium tabular-nums">{children}</dd>
    </div>
  );
}
