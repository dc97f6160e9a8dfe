import { createLazyRoute } from "@tanstack/react-router";
import { clsx } from "clsx";
import { defaultPeriod, periodLabels } from "../../data/figures/period.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { PeriodPicker } from "../../ui/form/period-picker.tsx";
import { Page } from "../../ui/page.tsx";
import { EvaluationStats } from "./evaluation-stats.tsx";
import { FailuresCard } from "./failures-card.tsx";
import { GettingStarted } from "./getting-started.tsx";
import { LatencyCard } from "./latency-card.tsx";
import { PassRatesCard } from "./pass-rates-card.tsx";
import { PredictionStats } from "./prediction-stats.tsx";
import { PredictionsCard } from "./predictions-card.tsx";
import { RateByDayCard } from "./rate-by-day-card.tsx";
import { SandboxNote } from "./sandbox-note.tsx";
import { useOverview } from "./use-overview.ts";

export const overviewRoute = createLazyRoute("/")({ component: OverviewPage });

function OverviewPage() {
  const { period = defaultPeriod, rate } = overviewRoute.useSearch();
  const navigate = overviewRoute.useNavigate();
  const { usage, latency, summary, failure, hasBefore, isMissing, isOld } = useOverview(period);
  return (
    <Page
      title="Overview"
      hint={
        hasBefore
          ? `Predictions and evaluations, compared with the previous ${periodLabels[period]}.`
          : "Predictions and evaluations."
      }
      actions={
        <PeriodPicker
          value={period}
          onChange={(next) =>
            navigate({
              search: {
                ...(rate !== undefined && { rate }),
                ...(next !== defaultPeriod && { period: next }),
              },
              replace: true,
            })
          }
        />
      }
    >
      <SandboxNote />
      <GettingStarted usage={usage} summary={summary} />
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <div
        hidden={isMissing}
        className={clsx("flex min-w-0 flex-col gap-4 transition-opacity", isOld && "opacity-60")}
      >
        <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">
          <PredictionStats usage={usage} latency={latency} />
          <EvaluationStats summary={summary} />
        </dl>
        <div className="grid gap-4 lg:grid-cols-3">
          <PredictionsCard usage={usage} className="lg:col-span-2" />
          <FailuresCard usage={usage} />
        </div>
        <div className="grid gap-4 lg:grid-cols-2">
          <LatencyCard
            title="Latency"
            hint="From request to response."
            latency={latency}
            measure="total_ms"
            color="var(--chart-1)"
          />
          <LatencyCard
            title="Overhead"
            hint="Time that Presage adds to the model’s latency."
            latency={latency}
            measure="overhead_ms"
            color="var(--chart-2)"
          />
        </div>
        {summary !== undefined && summary.rates.length > 0 && <PassRatesCard {...summary} />}
        <RateByDayCard
          period={period}
          summary={summary}
          chosen={rate}
          onChoose={(id) =>
            navigate({
              search: (others) => ({ ...others, rate: id }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
    </Page>
  );
}
