import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { FlaskConical } from "lucide-react";
import { lazy, Suspense } from "react";
import { findQueryError, loadPage, usePresage } from "../../data/client.ts";
import { deploymentsQuery, isSandbox, modelsQuery } from "../../data/predictions.ts";
import { periodSummaryQuery, summaryRefreshMs } from "../../data/summaries.ts";
import { latencyQuery, usageQuery } from "../../data/usage.ts";
import { formatShare } from "../../format/numbers.ts";
import { defaultPeriod, type Period, periodLabels } from "../../format/times.ts";
import { RateByDayCard } from "../../parts/rates.tsx";
import { PeriodPicker } from "../../ui/form/choices.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useFirstSteps } from "./first-steps.ts";
import { PassRatesCard } from "./pass-rates-card.tsx";
import { FailuresCard, LatencyCard, PredictionsCard } from "./request-cards.tsx";
import { RunsCard } from "./runs-card.tsx";
import { EvaluationStats, PredictionStats } from "./stats.tsx";

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
  // Someone new has nothing to read here yet.
  const isEmpty = steps && !(steps.hasPredicted || steps.hasEvaluated || steps.hasRun);
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
        !isEmpty && (
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
        )
      }
    >
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {areStepsKnown ? (
        <Suspense fallback={placeholder}>
          {steps && <GettingStarted {...steps} />}
          <div
            hidden={isMissing || isEmpty === true}
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

/** Says which deployments are degraded or out. */
function DeploymentNotes() {
  const { data = [] } = useQuery(deploymentsQuery(usePresage()));
  return data
    .filter(({ state }) => state !== "up")
    .map(({ name, state, error_rate }) => (
      <p
        key={name}
        className="rounded-lg border border-warn/30 bg-warn-soft px-4 py-2 text-sm wrap-anywhere text-warn"
      >
        <Link to="/deployments" className="underline underline-offset-2">
          Deployment {name}
        </Link>{" "}
        is {state}
        {error_rate ? `: ${formatShare(error_rate)} of its calls of the last 5 minutes failed.` : "."}
      </p>
    ));
}

function SandboxNote() {
  const presage = usePresage();
  const { data: models } = useQuery(modelsQuery(presage));
  if (!models?.some(isSandbox)) return null;
  return (
    <p className="flex gap-2 rounded-lg border border-line bg-surface px-4 py-2.5 text-sm text-ink-2">
      <FlaskConical className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />
      <span>
        Predictions come from the built-in sandbox, a rule-based simulator, not from a language model. Set{" "}
        <code className="font-mono text-xs">PRESAGE_UPSTREAM_URL</code> to use one.
      </span>
    </p>
  );
}

const refreshMs = 30_000;
/** The previous period stays visible until the new one is loaded. */
const live = { refetchInterval: refreshMs, placeholderData: keepPreviousData } as const;

function useOverview(period: Period) {
  const presage = usePresage();
  const usage = useQuery({ ...usageQuery(presage, period), ...live });
  const latency = useQuery({ ...latencyQuery(presage, period), ...live });
  const summary = useQuery({
    ...periodSummaryQuery(presage, period),
    ...live,
    refetchInterval: summaryRefreshMs,
  });
  const queries = [usage, latency, summary];
  return {
    usage: usage.data,
    latency: latency.data,
    summary: summary.data,
    /** There is something to compare with. */
    hasBefore: (usage.data?.before.data.length ?? 0) > 0 || (summary.data?.before.count ?? 0) > 0,
    failure: findQueryError(queries),
    /** Everything failed to load. */
    isMissing: queries.every(({ isError, data }) => isError && data === undefined),
    /** The figures are still those of the previously chosen period. */
    isOld: queries.some(({ isPlaceholderData }) => isPlaceholderData),
  };
}
