import { describeDraw, describeFailures, describeTrouble } from "@presage/contract/describe-runs";
import type { Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { CirclePause, TriangleAlert } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import { useUserNames } from "../../../data/accounts.ts";
import { usePresage } from "../../../data/client.ts";
import { datasetNamesQuery } from "../../../data/datasets.ts";
import {
  isActive,
  runReportQuery,
  useLiveRun,
  waitsForDeployment,
  waitsForUpload,
} from "../../../data/runs.ts";
import { counted, formatCount, formatShare } from "../../../format/numbers.ts";
import { describeTarget } from "../../../format/words.ts";
import { isTroubled, ProgressBar, RunStatus } from "../../../parts/runs.tsx";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Card } from "../../../ui/card.tsx";
import { lazyPart } from "../../../ui/load.ts";
import { Awaited, ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { ReportTab } from "../report/report-tab.tsx";
import { SamplesTab } from "../samples/samples-tab.tsx";
import { RunActions } from "./run-actions.tsx";

/** Few runs lack something. */
const WaitingCard = lazyPart(async () => (await import("./missing.tsx")).WaitingCard);
const Unjudged = lazyPart(async () => (await import("./missing.tsx")).Unjudged);

export const runRoute = createLazyRoute("/runs/$runId")({ component: RunPage });

function RunPage() {
  const { runId } = runRoute.useParams();
  const query = useLiveRun(runId);
  const { data: run, error, refetch } = query;
  if (run === undefined)
    return <UnavailablePage title="Run" query={query} link={{ to: "/runs", children: "All runs" }} />;
  return (
    <Page key={runId} title={run.name} actions={<RunActions run={run} />}>
      <RunFacts run={run} />
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {waitsForUpload(run) ? (
        <Suspense fallback={<SkeletonRows count={4} className="h-10" />}>
          <WaitingCard run={run} />
        </Suspense>
      ) : (
        <RunViews run={run} />
      )}
    </Page>
  );
}

function RunViews({ run }: { run: Run }) {
  const { tab = "report" } = runRoute.useSearch();
  const navigate = runRoute.useNavigate();
  return (
    <>
      <ProgressCard run={run} />
      <Tabs
        label="Views of the run"
        value={tab}
        onChange={(next) =>
          navigate({
            search: ({ tab: _, ...rest }) => ({ ...rest, ...(next !== "report" && { tab: next }) }),
            ...inPlace,
          })
        }
        tabs={[
          {
            value: "report",
            label: "Report",
            content: <Report run={run} />,
          },
          { value: "samples", label: "Samples", content: <SamplesTab run={run} /> },
        ]}
      />
    </>
  );
}

function RunFacts({ run }: { run: Run }) {
  const { data: datasets } = useQuery(datasetNamesQuery(usePresage()));
  const by = useUserNames()(run.created_by);
  const {
    target,
    mode,
    dataset_id,
    revision,
    progress,
    repeats,
    started_at,
    created_at,
    status,
    provenance,
  } = run;
  return (
    <p className="-mt-2 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm wrap-anywhere text-ink-2">
      <RunStatus status={status} />
      <span className="font-medium text-ink">
        <InlineText text={describeTarget(target)} />
      </span>
      <span>{mode}</span>
      {dataset_id !== null && (
        <Link
          to="/datasets/$datasetId"
          params={{ datasetId: dataset_id }}
          search={{ ...(revision !== null && { revision }) }}
          className="text-accent-ink underline-offset-2 hover:underline"
        >
          {datasets === undefined ? "dataset" : (datasets.get(dataset_id) ?? "deleted dataset")}, revision{" "}
          {revision}
        </Link>
      )}
      {provenance.draw && <span>{describeDraw(provenance.draw)}</span>}
      <span>
        {counted(progress.samples, "prediction")}
        {repeats > 1 && `, ${repeats} of each sample`}
      </span>
      <span>
        {isActive(run) && started_at === null ? "created " : "started "}
        <Time at={started_at ?? created_at} />
        {by !== undefined && ` by ${by}`}
      </span>
    </p>
  );
}

/** The progress of an unfinished run; afterwards, only problems on the way. */
function ProgressCard({ run }: { run: Run }) {
  const { status_reason, progress, notes } = run;
  const { failed_predictions: failures, without_verdict: unjudged } = progress;
  const failed = isActive(run) || failures === 0 ? [] : [`${counted(failures, "prediction")} failed`];
  const isUnjudged = !isActive(run) && unjudged > 0;
  const trouble = isTroubled(progress) ? describeTrouble(progress) : [];
  // Notes of finished runs are with the errors, below the figures.
  const said = [...failed, ...trouble, ...(run.status === "finished" ? [] : notes)];
  const hasSomethingToSay = isActive(run) || status_reason !== null || said.length > 0 || isUnjudged;
  if (!hasSomethingToSay) return null;
  return (
    <Card>
      <div className="flex flex-col gap-2 px-4 py-3">
        {isActive(run) && (
          <>
            <p className="flex flex-wrap items-baseline gap-x-3 text-sm tabular-nums">
              <span className="font-medium">
                {formatCount(progress.evaluated)} of {formatCount(progress.samples)} done
              </span>
              <span className="text-ink-2">
                {formatShare(progress.samples === 0 ? 0 : progress.evaluated / progress.samples)}
              </span>
              <span className="text-ink-3">{formatCount(progress.predicted)} predicted</span>
              {describeFailures(progress).map((text) => (
                <span key={text} className="text-fail">
                  {text}
                </span>
              ))}
              <TimeLeft key={run.status} run={run} />
            </p>
            <ProgressBar progress={progress} />
          </>
        )}
        {status_reason !== null && (
          <p className="flex items-start gap-2 text-sm text-warn">
            <CirclePause className="mt-0.5 size-4 shrink-0" aria-hidden />
            {status_reason}
            {waitsForDeployment(run) &&
              " Waiting for the deployment: one sample is tried again by itself, every 30 s at most."}
          </p>
        )}
        {(said.length > 0 || isUnjudged) && (
          <ul className="flex flex-col gap-1 text-sm text-ink-2">
            {isUnjudged && (
              <Warning>
                <Suspense fallback={`${formatCount(unjudged)} without a verdict`}>
                  <Unjudged run={run} />
                </Suspense>
              </Warning>
            )}
            {said.map((note) => (
              <Warning key={note}>{note}</Warning>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <li className="flex items-start gap-2">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <span>{children}</span>
    </li>
  );
}

const minuteMs = 60_000;

/** Measured from when the page first sees the run running: it may have been paused for days before. */
function TimeLeft({ run: { status, progress } }: { run: Run }) {
  const [first] = useState(() => ({ atMs: Date.now(), evaluated: progress.evaluated }));
  const done = progress.evaluated - first.evaluated;
  if (status !== "running" || done <= 0) return null;
  const leftMs = ((Date.now() - first.atMs) / done) * (progress.samples - progress.evaluated);
  const minutes = Math.ceil(leftMs / minuteMs);
  return (
    <span className="ml-auto text-ink-3">
      {minutes <= 1 ? "less than a minute left" : `about ${formatCount(minutes)} minutes left`}
    </span>
  );
}

function Report({ run }: { run: Run }) {
  const { data: report, error, refetch } = useQuery(runReportQuery(usePresage(), run));
  if (report !== undefined) return <ReportTab run={run} report={report} />;
  return <Awaited error={error} onRetry={refetch} count={10} className="h-14" />;
}
