import { createLazyRoute } from "@tanstack/react-router";
import { clsx } from "clsx";
import { lazy, Suspense } from "react";
import { defaultPeriod, periodLabels } from "../../data/figures/period.ts";
import { loadPage } from "../../load-page.ts";
import { RateByDayCard } from "../../parts/rates.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { PeriodPicker } from "../../ui/form/period-picker.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { DeploymentNotes } from "./deployment-notes.tsx";
import { EvaluationStats } from "./evaluation-stats.tsx";
import { FailuresCard } from "./failures-card.tsx";
import { useFirstSteps } from "./first-steps.ts";
import { LatencyCard } from "./latency-card.tsx";
import { PassRatesCard } from "./pass-rates-card.tsx";
import { PredictionStats } from "./prediction-stats.tsx";
import { PredictionsCard } from "./predictions-card.tsx";
import { RunsCard } from "./runs-card.tsx";
import { SandboxNote } from "./sandbox-note.tsx";
import { useOverview } from "./use-overview.ts";

/** Few visits need it. */
const GettingStarted = lazy(async () => ({
  default: (await loadPage(() => import("./getting-started.tsx"))).GettingStarted,
}));

export const overviewRoute = createLazyRoute("/")({ component: OverviewPage });

const placeholder = <SkeletonRows count={4} className="h-40" />;

/** How true predictions are comes before how many there were. Parts have fixed heights, so that nothing moves when one loads. */
function OverviewPage() {
  const { period = defaultPeriod, rate } = overviewRoute.useSearch();
  const navigate = overviewRoute.useNavigate();
  const { usage, latency, summary, failure, hasBefore, isMissing, isOld } = useOverview(period);
  const steps = useFirstSteps({ usage, summary });
  const areStepsKnown = steps !== undefined || failure !== undefined;
  return (
    <Page
      title="Overview"
      hint={
        hasBefore
          ? `Runs, evaluations and requests for predictions, compared with the previous ${periodLabels[period]}.`
          : "Runs, evaluations and requests for predictions."
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
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {areStepsKnown ? (
        <Suspense fallback={placeholder}>
          {steps && <GettingStarted {...steps} />}
          <div
            hidden={isMissing}
            className={clsx("flex min-w-0 flex-col gap-4 transition-opacity", isOld && "opacity-60")}
          >
            <DeploymentNotes />
            <RunsCard period={period} />
            <PassRatesCard summary={summary} />
            <RateByDayCard
              period={period}
              rates={summary?.rates}
              chosen={rate}
              onChoose={(id) =>
                navigate({
                  search: (others) => ({ ...others, rate: id }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
            <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-3 xl:grid-cols-6">
              <EvaluationStats summary={summary} />
              <PredictionStats usage={usage} latency={latency} />
            </dl>
            <div className="grid gap-4 lg:grid-cols-3">
              <PredictionsCard usage={usage} />
              <LatencyCard latency={latency} />
              <FailuresCard usage={usage} />
            </div>
            <SandboxNote />
          </div>
        </Suspense>
      ) : (
        placeholder
      )}
    </Page>
  );
}
