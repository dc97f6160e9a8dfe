import type { DatasetSample } from "@presage/sdk";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, Link, type LinkProps } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { datasetQuery, trajectoryStepsQuery } from "../../../data/runs/datasets.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { counted } from "../../../format/counted.ts";
import { UnavailablePage } from "../../../shell/unavailable-page.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { stateOf } from "../../../ui/steps/sample-parts.ts";
import { StepKeysHint } from "../../../ui/steps/step-keys-hint.tsx";
import { type StepMark, StepStrip } from "../../../ui/steps/step-strip.tsx";
import { useStepKeys } from "../../../ui/steps/use-step-keys.ts";
import { RecordedStep } from "./recorded-step.tsx";

const path = "/datasets/$datasetId/trajectories/$trajectoryId";

export const datasetTrajectoryRoute = createLazyRoute(path)({ component: DatasetTrajectoryPage });

const route = getRouteApi(path);

function DatasetTrajectoryPage() {
  const { datasetId, trajectoryId } = route.useParams();
  const { revision, step } = route.useSearch();
  const navigate = route.useNavigate();
  const presage = usePresage();
  const dataset = useQuery(datasetQuery(presage, datasetId));
  const shownRevision = revision ?? dataset.data?.latest_revision?.revision;
  const list = useInfiniteQuery(trajectoryStepsQuery(presage, { datasetId, revision, trajectoryId }));
  const samples = useMemo(() => list.data?.pages.flatMap(({ samples }) => samples) ?? [], [list.data]);
  const steps = useMemo(() => samples.map((sample) => sample.step), [samples]);
  const current = step ?? steps[0];
  const sample = samples.find((one) => one.step === current);

  // A link leads to a later step, or the reader nears the end of what is loaded.
  const lastStep = steps.at(-1);
  const { fetchNextPage, hasNextPage, isFetching } = list;
  const isWanting = lastStep !== undefined && current !== undefined && current >= lastStep - nearEnd;
  useEffect(() => {
    if (isWanting && hasNextPage && !isFetching) void fetchNextPage();
  }, [isWanting, hasNextPage, isFetching, fetchNextPage]);

  const searchOf = (to: number) => ({ ...(revision !== undefined && { revision }), step: to });
  const link = (to: number): LinkProps => ({
    to: path,
    params: { datasetId, trajectoryId },
    search: searchOf(to),
  });
  useStepKeys(steps, current, (to) => navigate({ search: searchOf(to), replace: true, resetScroll: false }));

  if (list.data === undefined) {
    return (
      <UnavailablePage
        title={trajectoryId}
        query={list}
        actions={
          <Link to="/datasets/$datasetId" params={{ datasetId }} className={buttonClass({})}>
            The dataset
          </Link>
        }
      />
    );
  }
  return (
    <Page
      title={trajectoryId}
      hint={
        <>
          Trajectory of{" "}
          <Link
            to="/datasets/$datasetId"
            params={{ datasetId }}
            search={revision === undefined ? {} : { revision }}
            className="font-medium text-accent-ink hover:underline"
          >
            {dataset.data?.name ?? "the dataset"}
          </Link>
          {shownRevision !== undefined && `, revision ${shownRevision}`} · {counted(steps.length, "step")}
          {hasNextPage && " and more"}
          <StepKeysHint count={steps.length} />
        </>
      }
    >
      {list.error !== null && <ErrorNotice error={list.error} onRetry={list.refetch} />}
      <Card>
        <StepStrip
          label="Steps"
          steps={steps}
          current={current}
          rows={[{ id: "change", markOf: (at) => markOf(samples, at) }]}
          link={link}
        />
      </Card>
      {sample !== undefined && current !== undefined ? (
        <RecordedStep key={sample.dataset_sample_id} sample={sample} steps={steps} link={link} />
      ) : (
        <Card>
          {isWanting && (hasNextPage || isFetching) ? (
            <SkeletonRows count={6} className="h-8" />
          ) : (
            <p className="p-4 text-sm text-ink-2">The trajectory has no step {current}.</p>
          )}
        </Card>
      )}
    </Page>
  );
}

const nearEnd = 20;

function markOf(samples: readonly DatasetSample[], step: number): StepMark {
  const sample = samples.find((one) => one.step === step);
  const isChanged = sample !== undefined && stateOf(sample).trim() !== sample.next_state.trim();
  return {
    tone: isChanged ? "changed" : "none",
    label: `${isChanged ? "the state changes" : "the state stays"}${sample?.done ? ", the episode ends" : ""}`,
  };
}
