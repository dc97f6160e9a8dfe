import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { stepStartsMs } from "../../data/period.ts";
import type { PeriodSummary } from "../../data/summaries.ts";
import { formatShare } from "../../format/format-number.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

export function PassRateCard({ summary }: { summary: PeriodSummary | undefined }) {
  return (
    <Card title="Pass rate by day" hint="By UTC day, with 95 % confidence intervals.">
      <PassRate summary={summary} />
    </Card>
  );
}

function PassRate({ summary }: { summary: PeriodSummary | undefined }) {
  if (summary === undefined) return <ChartSkeleton />;
  if (summary.all === undefined || summary.all.count === 0) {
    return (
      <EmptyState
        icon={ListChecks}
        title="No evaluations in this period"
        actions={
          <Link to="/playground" className={buttonClass({ size: "small" })}>
            Evaluate in the playground
          </Link>
        }
      >
        Make a prediction in the playground and evaluate the answer there, or send outputs to{" "}
        <code className="font-mono text-xs">POST /v1/evaluate</code>.
      </EmptyState>
    );
  }
  const groupOf = new Map(summary.byDay.map((group) => [Date.parse(group.key.day ?? ""), group]));
  const points = stepStartsMs(summary.since, "day", summary.untilMs).map((startMs): ChartPoint => {
    const group = groupOf.get(startMs);
    const interval = group?.pass_rate_interval;
    return {
      startMs,
      values: {
        rate: group?.pass_rate ?? null,
        interval: interval ? [interval.lower, interval.upper] : null,
      },
    };
  });
  return (
    <TimeChart
      label="Pass rate by day"
      step="day"
      points={points}
      series={[
        {
          key: "rate",
          label: "Pass rate",
          color: "var(--chart-1)",
          shape: "line",
          total: formatShare(summary.all.pass_rate),
        },
        { key: "interval", label: "95 % interval", color: "var(--chart-1)", shape: "band" },
      ]}
      format={formatShare}
      formatTick={(share) => `${Math.round(share * 100)} %`}
      greatest={1}
    />
  );
}
