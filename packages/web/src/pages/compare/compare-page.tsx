import type { Comparison } from "@presage/sdk";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { clsx } from "clsx";
import { comparedReportQuery } from "../../data/runs/compared-runs.ts";
import { comparisonQuery } from "../../data/runs/comparisons.ts";
import { usePresage } from "../../data/use-presage.ts";
import { evaluatorKey } from "../../parts/evaluators.tsx";
import { ExampleNote } from "../../parts/example.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { ChosenRuns } from "./choose-runs/chosen-runs.tsx";
import { RunChooser } from "./choose-runs/run-chooser.tsx";
import { CurvesCard } from "./curves/curves-card.tsx";
import { SurvivalCard } from "./curves/survival-card.tsx";
import { DifferencesCard } from "./differences/differences-card.tsx";
import { StrataCard } from "./differences/strata-card.tsx";
import { EffortCard } from "./effort/effort-card.tsx";
import { LeftOutNote } from "./left-out-note.tsx";
import { OutcomeCard } from "./outcome/outcome-card.tsx";
import { markRuns } from "./run-marks.ts";
import { ChangedSamplesCard } from "./samples/changed-samples-card.tsx";
import { ShareActions } from "./share-actions.tsx";
import { type CompareState, useCompare } from "./use-compare.ts";

export const compareRoute = createLazyRoute("/compare")({ component: ComparePage });

function ComparePage() {
  const state = useCompare();
  const { runIds, choose } = state;
  const presage = usePresage();
  const isChosen = runIds.length >= 2;
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...comparisonQuery(presage, runIds),
    enabled: isChosen,
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Compare"
      hint="Which run is better? Runs on the same samples, compared pairwise."
      isWide
      actions={isChosen && data !== undefined && <ShareActions comparison={data} />}
    >
      {isChosen && error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {(!isChosen || error !== null) && (
        <Card title="Choose runs">
          <RunChooser chosenIds={runIds} onChoose={choose} />
        </Card>
      )}
      {isChosen && data === undefined && error === null && (
        <Card title="Runs">
          <SkeletonRows count={8} />
        </Card>
      )}
      {isChosen && data !== undefined && error === null && (
        <div
          className={clsx(
            "flex min-w-0 flex-col gap-4 transition-opacity",
            isPlaceholderData && "opacity-60",
          )}
        >
          <ComparedRuns comparison={data} state={state} />
        </div>
      )}
      <ExampleNote onRemoved={() => choose([])} />
    </Page>
  );
}

function ComparedRuns({ comparison, state }: { comparison: Comparison; state: CompareState }) {
  const { runs, evaluators, evaluators_left_out } = comparison;
  const { search, runIds, change, choose } = state;
  const presage = usePresage();
  const marked = markRuns(runs);
  const evaluator = evaluators.find((one) => evaluatorKey(one) === search.evaluator) ?? evaluators[0];
  const reports = useQueries({ queries: runs.map(({ id }) => comparedReportQuery(presage, id)) });
  const loaded = reports.map(({ data }) => data);
  return (
    <>
      {evaluator !== undefined && (
        <OutcomeCard
          {...{ comparison, evaluator, marked }}
          onChooseEvaluator={(key) => change({ evaluator: key, open: undefined }, { replace: true })}
        />
      )}
      <ChosenRuns {...{ marked, runs, runIds, choose }} />
      <LeftOutNote {...{ evaluators, leftOut: evaluators_left_out, marked }} />
      {evaluator !== undefined && (
        <>
          <DifferencesCard {...{ evaluators, marked }} chosen={evaluator} />
          <CurvesCard {...{ evaluator, marked, state }} reports={loaded} />
          <SurvivalCard {...{ evaluator, marked }} reports={loaded} />
          <StrataCard {...{ evaluator, marked }} />
        </>
      )}
      <EffortCard marked={marked} reports={loaded} />
      {evaluator !== undefined && (
        <ChangedSamplesCard key={evaluatorKey(evaluator)} {...{ evaluator, marked, state }} />
      )}
    </>
  );
}
