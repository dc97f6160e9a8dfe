import type { DatasetSample } from "@presage/sdk";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetQuery, trajectoryStepsQuery } from "../../../data/datasets.ts";
import { counted } from "../../../format/numbers.ts";
import { exactTime } from "../../../format/times.ts";
import { TagList } from "../../../parts/datasets.tsx";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Card, Fact } from "../../../ui/card.tsx";
import { useLoadMore } from "../../../ui/data-table/data-table.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { StepKeysHint, StepPager, useStepKeys } from "../../../ui/steps/step-pager.tsx";
import type { StepMark } from "../../../ui/steps/step-strip.tsx";
import { actionOf, SampleBackground, StepTexts, stateOf } from "../../../ui/steps/step-texts.tsx";
import { StepsBeside } from "../../../ui/steps/steps-beside.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { describeUsage } from "../import-facts.tsx";

const path = "/datasets/$datasetId/trajectories/$trajectoryId";

export const datasetTrajectoryRoute = createLazyRoute(path)({ component: DatasetTrajectoryPage });

const nearEnd = 20;

function DatasetTrajectoryPage() {
  const { datasetId, trajectoryId } = datasetTrajectoryRoute.useParams();
  const { revision, step } = datasetTrajectoryRoute.useSearch();
  const navigate = datasetTrajectoryRoute.useNavigate();
  const presage = usePresage();
  const dataset = useQuery(datasetQuery(presage, datasetId));
  const shownRevision = revision ?? dataset.data?.latest_revision?.revision;
  const list = useInfiniteQuery({
    ...trajectoryStepsQuery(presage, { datasetId, revision: shownRevision, trajectoryId }),
    enabled: shownRevision !== undefined || dataset.isSuccess,
  });
  const samples = useMemo(() => list.data?.pages.flatMap(({ samples }) => samples) ?? [], [list.data]);
  const steps = useMemo(() => samples.map((sample) => sample.step), [samples]);
  const current = step ?? steps[0];
  const sample = samples.find((one) => one.step === current);

  // Loads more if a link leads to a later step, or if the reader comes close to the end of the loaded steps.
  const lastStep = steps.at(-1);
  const { hasNextPage, isFetching } = list;
  const loadMore = useLoadMore(list);
  const isWanting = lastStep !== undefined && current !== undefined && current >= lastStep - nearEnd;
  useEffect(() => {
    if (isWanting) loadMore();
  }, [isWanting, loadMore]);

  const searchOf = (to: number) => ({ ...(revision !== undefined && { revision }), step: to });
  const link = (to: number): LinkProps => ({
    to: path,
    params: { datasetId, trajectoryId },
    search: searchOf(to),
  });
  useStepKeys(steps, current, (to) => navigate({ search: searchOf(to), ...inPlace }));

  if (list.data === undefined) {
    return (
      <UnavailablePage
        title={trajectoryId}
        query={dataset.error === null || shownRevision !== undefined ? list : dataset}
        link={{ to: "/datasets/$datasetId", params: { datasetId }, children: "The dataset" }}
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
      <StepsBeside
        hint="Δ state changed, · unchanged"
        steps={steps}
        current={current}
        actionOf={(at) => {
          const found = samples.find((one) => one.step === at);
          return found ? actionOf(found) : "";
        }}
        markOf={(at) => markOf(samples, at)}
        noteOf={(at) => noteOf(samples.find((one) => one.step === at))}
        link={link}
      >
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
      </StepsBeside>
    </Page>
  );
}

/** The reward, and whether the episode ends. */
function noteOf(sample: DatasetSample | undefined): ReactNode {
  if (!sample?.reward && !sample?.done) return undefined;
  return (
    <>
      {sample.reward || null}
      {sample.done && <b className="pl-1 font-medium text-accent-ink">end</b>}
    </>
  );
}

function markOf(samples: readonly DatasetSample[], step: number): StepMark {
  const sample = samples.find((one) => one.step === step);
  const isChanged = sample !== undefined && stateOf(sample).trim() !== sample.next_state.trim();
  return {
    tone: isChanged ? "changed" : "none",
    label: `${isChanged ? "the state changes" : "the state stays"}${sample?.done ? ", the episode ends" : ""}`,
  };
}

interface RecordedStepProps {
  sample: DatasetSample;
  steps: readonly number[];
  link(step: number): LinkProps;
}

/** One recorded transition: the action, and what it changed. */
function RecordedStep({ sample, steps, link }: RecordedStepProps) {
  const { step, next_state, reward, done, at, usage, tags, dataset_sample_id } = sample;
  const state = stateOf(sample);
  return (
    <Card>
      <div className="flex flex-col gap-4 p-4">
        <StepPager steps={steps} current={step} link={link}>
          Step {step}
        </StepPager>
        <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
          <Fact look="inline" name="Sample">
            <code className="font-mono text-xs wrap-anywhere">
              <InlineText text={dataset_sample_id} />
            </code>
          </Fact>
          {reward !== undefined && (
            <Fact look="inline" name="Reward">
              <span className="tabular-nums">{reward}</span>
            </Fact>
          )}
          {done !== undefined && (
            <Fact look="inline" name="Done">
              {done ? "yes" : "no"}
            </Fact>
          )}
          {at !== undefined && (
            <Fact look="inline" name="Answered">
              <time dateTime={at}>{exactTime(at)}</time>
            </Fact>
          )}
          {usage !== undefined && (
            <Fact look="inline" name="Usage">
              <span className="tabular-nums">{describeUsage(usage)}</span>
            </Fact>
          )}
          {tags !== undefined && <TagList tags={tags} />}
        </dl>
        <PlainText text={actionOf(sample)} label="Action" />
        <StepTexts before={state} after={next_state} beforeLabel="State" afterLabel="Next state" />
        <SampleBackground sample={sample} />
      </div>
    </Card>
  );
}
