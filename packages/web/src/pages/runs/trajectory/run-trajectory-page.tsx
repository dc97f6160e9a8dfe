import type { Run, RunSample, RunSampleListResponse } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, type LinkProps } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useMemo } from "react";
import { findQueryError, usePresage } from "../../../data/client.ts";
import { datasetQuery, datasetSampleQuery } from "../../../data/datasets.ts";
import { storedPredictionQuery } from "../../../data/predictions.ts";
import { maxStepPredictions, runQuery, runTrajectoryQuery } from "../../../data/runs.ts";
import { counted, formatCount } from "../../../format/numbers.ts";
import { nameEvaluators } from "../../../parts/evaluator-names.ts";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { useShortcut } from "../../../ui/shortcuts.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { StepKeysHint, StepPager, useStepKeys } from "../../../ui/steps/step-pager.tsx";
import { StepStrip } from "../../../ui/steps/step-strip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { StepBody } from "./step-body.tsx";
import { type Divergence, firstDivergence, markOf, outlineOf } from "./trajectory-outline.ts";

const path = "/runs/$runId/trajectories/$trajectoryId";

export const runTrajectoryRoute = createLazyRoute(path)({ component: RunTrajectoryPage });

function RunTrajectoryPage() {
  const { runId, trajectoryId } = runTrajectoryRoute.useParams();
  const run = useQuery(runQuery(usePresage(), runId));
  if (run.data !== undefined)
    return <LoadedTrajectory key={`${runId} ${trajectoryId}`} run={run.data} trajectoryId={trajectoryId} />;
  return <UnavailablePage title="Run" query={run} link={{ to: "/runs", children: "All runs" }} />;
}

function LoadedTrajectory({ run, trajectoryId }: { run: Run; trajectoryId: string }) {
  const search = runTrajectoryRoute.useSearch();
  const navigate = runTrajectoryRoute.useNavigate();
  const presage = usePresage();
  const { repeat = 0 } = search;
  const found = useQuery(runTrajectoryQuery(presage, run.id, trajectoryId));
  const outline = useMemo(() => outlineOf(found.data?.samples ?? [], repeat), [found.data, repeat]);
  const names = useMemo(() => nameEvaluators(run.evaluators), [run.evaluators]);
  const divergences = useMemo(
    () => run.evaluators.map((evaluator) => firstDivergence(outline, evaluator)),
    [run.evaluators, outline],
  );
  const diverged = divergences.flatMap((one) => (one.kind === "diverged" ? one.step : []));
  const current = search.step ?? (diverged.length > 0 ? Math.min(...diverged) : outline.steps[0]);
  const sample = current === undefined ? undefined : outline.sampleAt(current);

  const searchOf = (step: number) => ({ step, ...(repeat > 0 && { repeat }) });
  const link = (step: number): LinkProps => ({
    to: path,
    params: { runId: run.id, trajectoryId },
    search: searchOf(step),
  });
  const open = (step: number) => void navigate({ search: searchOf(step), ...inPlace });
  useStepKeys(outline.steps, current, open);
  const failing = outline.steps.filter((step) =>
    outline.sampleAt(step)?.verdicts.some(({ pass }) => pass === false),
  );
  const next = failing.find((step) => step > (current ?? -1)) ?? failing[0] ?? 0;
  const hasFailures = failing.length > 0;
  useShortcut({ keys: "f", label: "Next failure", group: "Steps", run: () => open(next) }, hasFailures);

  return (
    <Page
      title={trajectoryId}
      hint={<Origin run={run} trajectoryId={trajectoryId} steps={found.data && outline.steps.length} />}
      actions={
        <>
          {found.data?.around && <Around runId={run.id} around={found.data.around} repeat={repeat} />}
          {run.repeats > 1 && (
            <Segmented
              label="Repeat"
              value={String(repeat)}
              options={Array.from({ length: run.repeats }, (_, index) => ({
                value: String(index),
                label: `Repeat ${index + 1}`,
              }))}
              onChange={(next) =>
                navigate({
                  search: {
                    ...(current !== undefined && { step: current }),
                    ...(next !== "0" && { repeat: Number(next) }),
                  },
                  ...inPlace,
                })
              }
            />
          )}
        </>
      }
    >
      {found.error !== null && <ErrorNotice error={found.error} onRetry={found.refetch} />}
      {found.data?.isWhole === false && (
        <p className="text-sm text-warn">
          Only the first {formatCount(maxStepPredictions)} predictions of this trajectory are shown. The run’s
          export has all of them.
        </p>
      )}
      <Card className="flex flex-wrap items-start gap-x-8">
        <div className="flex min-w-0 items-start gap-4 py-3 pl-4 text-sm">
          <div className="min-w-0">
            <h2 className="font-semibold">First divergence</h2>
            {found.data && <Divergences names={names} divergences={divergences} link={link} />}
          </div>
          {hasFailures && (
            <Button size="small" title="Next failure (F)" onClick={() => open(next)}>
              Next failure
            </Button>
          )}
        </div>
        {found.data === undefined ? (
          <SkeletonRows count={1 + run.evaluators.length} className="h-7" />
        ) : (
          <StepStrip
            label="Verdicts by step"
            steps={outline.steps}
            current={current}
            link={link}
            rows={run.evaluators.map((evaluator, index) => ({
              id: `${index}`,
              name: names[index] ?? evaluator.evaluator,
              markOf: (step) =>
                markOf(outline.sampleAt(step), evaluator, divergences[index] ?? { kind: "agrees", steps: 0 }),
            }))}
          />
        )}
      </Card>
      {sample !== undefined && (
        <PredictedStep
          key={`${repeat} ${sample.step}`}
          run={run}
          sample={sample}
          before={outlineBefore(sample.step)}
          names={names}
          steps={outline.steps}
          link={link}
        />
      )}
      {sample === undefined && found.data !== undefined && (
        <Card>
          <p className="p-4 text-sm text-ink-2">
            {current === undefined
              ? "The run has no prediction for this trajectory."
              : `The run has no prediction for step ${current}.`}
          </p>
        </Card>
      )}
    </Page>
  );

  function outlineBefore(step: number) {
    const before = outline.stepBefore(step);
    return before === undefined ? undefined : outline.sampleAt(before);
  }
}

interface AroundProps {
  runId: string;
  around: NonNullable<RunSampleListResponse["trajectory"]>;
  repeat: number;
}

/** Links to the trajectories before and after this one. */
function Around({ runId, around: { previous, next }, repeat }: AroundProps) {
  if (previous === null && next === null) return null;
  const look = buttonClass({ size: "small" });
  const linkTo = (trajectoryId: string) => ({
    to: path,
    params: { runId, trajectoryId },
    search: repeat > 0 ? { repeat } : {},
    title: trajectoryId,
    className: look,
  });
  return (
    <nav aria-label="Trajectories" className="flex gap-2">
      {previous !== null && (
        <Link {...linkTo(previous)}>
          <ChevronLeft aria-hidden />
          Previous trajectory
        </Link>
      )}
      {next !== null && (
        <Link {...linkTo(next)}>
          Next trajectory
          <ChevronRight aria-hidden />
        </Link>
      )}
    </nav>
  );
}

interface OriginProps {
  run: Run;
  trajectoryId: string;
  /** Undefined until loaded. */
  steps: number | undefined;
}

function Origin({ run, trajectoryId, steps }: OriginProps) {
  const { id, name, mode, dataset_id: datasetId, revision } = run;
  const dataset = useQuery({
    ...datasetQuery(usePresage(), datasetId ?? ""),
    enabled: datasetId !== null,
  });
  const look = "font-medium text-accent-ink hover:underline";
  return (
    <span className="flex flex-wrap items-center gap-x-1.5 gap-y-1">
      <span>
        Trajectory of run{" "}
        <Link to="/runs/$runId" params={{ runId: id }} className={look}>
          <InlineText text={name} />
        </Link>
        {datasetId !== null && (
          <>
            {" "}
            on{" "}
            <Link
              to="/datasets/$datasetId/trajectories/$trajectoryId"
              params={{ datasetId, trajectoryId }}
              search={revision === null ? {} : { revision }}
              className={look}
            >
              <InlineText text={dataset.data?.name ?? "its dataset"} />
              {revision !== null && `, revision ${revision}`}
            </Link>
          </>
        )}
        {steps !== undefined && (
          <>
            {" · "}
            {counted(steps, "step")}
            <StepKeysHint count={steps} />
          </>
        )}
      </span>
      <Badge>{mode}</Badge>
    </span>
  );
}

interface DivergencesProps {
  names: readonly string[];
  /** In the same order as `names`. */
  divergences: readonly Divergence[];
  link(step: number): LinkProps;
}

/** Where the trajectory leaves the recording; by which evaluators, if they do not all agree. */
function Divergences({ names, divergences, link }: DivergencesProps) {
  const named = divergences.map((divergence, index) => ({ divergence, name: names[index] }));
  const groups = [...Map.groupBy(named, ({ divergence }) => JSON.stringify(divergence))];
  return groups.map(([key, alike]) => (
    <span key={key} className="mr-5 text-sm">
      {alike[0] && <Where divergence={alike[0].divergence} link={link} />}
      {groups.length > 1 && ` by ${alike.map(({ name }) => name).join(", ")}`}
    </span>
  ));
}

function Where({ divergence, link }: { divergence: Divergence; link: DivergencesProps["link"] }) {
  if (divergence.kind === "agrees") {
    return <span className="font-medium text-pass">none in {counted(divergence.steps, "step")}</span>;
  }
  const isKnown = divergence.kind === "diverged";
  return (
    <Link
      {...link(divergence.step)}
      replace
      resetScroll={false}
      title={isKnown ? "Go to the step" : "There is no verdict at this step, so what follows is not known"}
      className={`font-medium hover:underline ${isKnown ? "text-fail" : "text-warn"}`}
    >
      {isKnown ? `step ${divergence.step}` : `not known after step ${divergence.step}: no verdict`}
    </Link>
  );
}

interface PredictedStepProps {
  run: Run;
  sample: RunSample;
  /** The previous step of the same repeat. */
  before: RunSample | undefined;
  /** The names of the run's evaluators. */
  names: readonly string[];
  steps: readonly number[];
  link(step: number): LinkProps;
}

/** One step of a run: the model's input, its prediction, and the recording. */
function PredictedStep({ run, sample, before, names, steps, link }: PredictedStepProps) {
  const presage = usePresage();
  const { trajectory_id: trajectoryId, step } = sample;
  const place = { datasetId: run.dataset_id ?? "", revision: run.revision ?? undefined, trajectoryId, step };
  const recorded = useQuery(datasetSampleQuery(presage, place));
  const predicted = useQuery(storedPredictionQuery(presage, sample.prediction.id));
  const isFreeRunning = run.mode === "free-running" && before !== undefined;
  const told = useQuery({
    ...storedPredictionQuery(presage, before?.prediction.id ?? ""),
    enabled: isFreeRunning,
  });
  const failure = findQueryError([recorded, predicted, told]);
  return (
    <Card>
      <div className="flex flex-col gap-4 p-4">
        <StepPager steps={steps} current={step} link={link}>
          Step {step}
          <span className="ml-2 font-mono text-xs font-normal text-ink-3">{sample.dataset_sample_id}</span>
        </StepPager>
        {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
        <StepBody
          run={run}
          names={names}
          sample={sample}
          recorded={recorded.data ?? undefined}
          predicted={predicted.data}
          told={isFreeRunning ? { step: before.step, output: told.data?.output } : undefined}
        />
      </div>
    </Card>
  );
}
