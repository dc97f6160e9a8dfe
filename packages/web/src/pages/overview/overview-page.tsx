import { useQueries, useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { Suspense, useDeferredValue } from "react";
import { usePresage } from "../../data/client.ts";
import { exampleQuery } from "../../data/example.ts";
import { deploymentsQuery, modelsQuery } from "../../data/predictions.ts";
import { checkedEnvironmentsQuery, pausedChecksQuery, realityQuery } from "../../data/reality.ts";
import { reviewQueueQuery } from "../../data/review.ts";
import { headlinesQuery, pausedRunsQuery } from "../../data/runs.ts";
import { budgetsQuery } from "../../data/spending.ts";
import { Operations } from "../../parts/operations.tsx";
import { lazyPart } from "../../ui/load.ts";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useFirstSteps } from "./first-steps.ts";
import { HeadlinesCard } from "./headlines-card.tsx";
import { NeedsYou } from "./needs-you.tsx";

/** Loaded separately, as few visits need it. */
const GettingStarted = lazyPart(async () => (await import("./getting-started.tsx")).GettingStarted);

export const overviewRoute = createLazyRoute("/")({ component: OverviewPage });

const placeholder = <SkeletonRows count={4} className="h-40" />;

/** What can be trusted, then what needs attention, then how the service is running. */
function OverviewPage() {
  const { steps, failure } = useFirstSteps();
  const presage = usePresage();
  const checked = useQuery(checkedEnvironmentsQuery(presage));
  // Parts appear together, so that none moves when another has loaded.
  const parts = [
    checked,
    ...useQueries({ queries: (checked.data ?? []).map((name) => realityQuery(presage, name)) }),
    useQuery(headlinesQuery(presage)),
    useQuery(deploymentsQuery(presage)),
    useQuery(pausedRunsQuery(presage)),
    useQuery(pausedChecksQuery(presage)),
    useQuery(budgetsQuery(presage)),
    useQuery(reviewQueueQuery(presage, { seed: 1 }, 0)),
    // The ways to start depend on these.
    useQuery({ ...modelsQuery(presage), enabled: steps !== null }),
    useQuery({ ...exampleQuery(presage), enabled: steps !== null }),
  ];
  // The content that replaces the placeholder is drawn in small tasks. It says what failed, and reads that again: not a reason to hide it.
  const isLoading = useDeferredValue(
    parts.some(({ isLoading, errorUpdateCount }) => isLoading && errorUpdateCount === 0) ||
      (steps === undefined && failure === undefined),
  );
  // For new users there is nothing to show here yet.
  const isEmpty = steps && !(steps.hasPredicted || steps.hasEvaluated || steps.hasRun);
  return (
    <Page title="Overview" hint="Which model or world is good enough, and what waits for you.">
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {isLoading ? (
        placeholder
      ) : (
        <Suspense fallback={placeholder}>
          {steps && <GettingStarted {...steps} />}
          {!isEmpty && (
            <>
              <div className="grid min-w-0 items-start gap-4 *:min-w-0 sm:max-xl:*:has-[[data-needs]]:order-first xl:has-[[data-needs]]:grid-cols-[minmax(0,1fr)_13rem]">
                <HeadlinesCard />
                <NeedsYou />
              </div>
              <Operations />
            </>
          )}
        </Suspense>
      )}
    </Page>
  );
}
