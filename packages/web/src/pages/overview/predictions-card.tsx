import { clipPeaks } from "../../data/figures/clip-peaks.ts";
import { stepStartsMs } from "../../data/figures/period.ts";
import { groupByStep, isPrediction, sumUsage } from "../../data/figures/usage-figures.ts";
import type { ComparedUsage } from "../../data/usage.ts";
import { formatCount, formatShortCount } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint } from "../../ui/charts/chart-series.ts";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";

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
