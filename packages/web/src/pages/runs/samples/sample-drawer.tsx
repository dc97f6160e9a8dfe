import type { Run, RunSample } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Route } from "lucide-react";
import { findQueryError, usePresage } from "../../../data/client.ts";
import { datasetSampleQuery } from "../../../data/datasets.ts";
import { storedPredictionQuery } from "../../../data/predictions.ts";
import { runSampleQuery, runTrajectoryQuery } from "../../../data/runs.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { Drawer, DrawerHeader } from "../../../ui/dialog.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { ScrollRegion } from "../../../ui/page.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { StepBody } from "../trajectory/step-body.tsx";

interface SampleDrawerProps {
  run: Run;
  /** The names of the run's evaluators. */
  names: readonly string[];
  /** Undefined: the drawer is closed. */
  sampleId: string | undefined;
  repeat: number;
  previous: RunSample | undefined;
  next: RunSample | undefined;
  onOpen(sample: RunSample): void;
  onClose(): void;
  onCloseAutoFocus(event: Event): void;
  onRepeat(repeat: number): void;
}

/** A sample's texts with all verdicts, tokens and latency. */
export function SampleDrawer({ sampleId, onClose, onCloseAutoFocus, ...rest }: SampleDrawerProps) {
  return (
    <Drawer
      isOpen={sampleId !== undefined}
      onClose={onClose}
      onCloseAutoFocus={onCloseAutoFocus}
      title={`Sample ${sampleId}`}
    >
      {sampleId !== undefined && (
        <DrawerContent key={sampleId} sampleId={sampleId} onClose={onClose} {...rest} />
      )}
    </Drawer>
  );
}

function DrawerContent({
  run,
  names,
  sampleId,
  repeat,
  onRepeat,
  ...place
}: Omit<SampleDrawerProps, "sampleId" | "onCloseAutoFocus"> & { sampleId: string }) {
  const presage = usePresage();
  const found = useQuery(runSampleQuery(presage, run.id, sampleId));
  const sample = found.data?.find((one) => one.repeat === repeat) ?? found.data?.[0];
  return (
    <>
      <DrawerHeader {...place}>
        <InlineText text={sampleId} />
      </DrawerHeader>
      <div className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-b border-line px-4 py-2 empty:hidden">
        {found.data !== undefined && found.data.length > 1 && (
          <Segmented
            label="Repeat"
            value={String(sample?.repeat ?? 0)}
            options={found.data.map((one) => ({
              value: String(one.repeat),
              label: String(one.repeat + 1),
            }))}
            onChange={(next) => onRepeat(Number(next))}
          />
        )}
        {sample !== undefined && (
          <Link
            to="/runs/$runId/trajectories/$trajectoryId"
            params={{ runId: run.id, trajectoryId: sample.trajectory_id }}
            search={{ step: sample.step, ...(sample.repeat > 0 && { repeat: sample.repeat }) }}
            className={buttonClass({ size: "small" })}
          >
            <Route aria-hidden />
            Whole trajectory
          </Link>
        )}
      </div>
      <ScrollRegion label="The sample" className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        <div className="flex flex-col gap-4 p-4">
          {found.error !== null && <ErrorNotice error={found.error} onRetry={found.refetch} />}
          {sample !== undefined && (
            <Texts key={sample.prediction.id} run={run} sample={sample} names={names} />
          )}
          {found.isPending && <SkeletonRows count={5} className="h-8" />}
          {found.data !== undefined && sample === undefined && (
            <p className="text-sm text-ink-2">The run has no prediction for this sample.</p>
          )}
        </div>
      </ScrollRegion>
    </>
  );
}

function Texts({ run, sample, names }: Pick<SampleDrawerProps, "run" | "names"> & { sample: RunSample }) {
  const presage = usePresage();
  const { trajectory_id: trajectoryId, step, repeat } = sample;
  const place = { datasetId: run.dataset_id ?? "", revision: run.revision ?? undefined, trajectoryId, step };
  const recorded = useQuery(datasetSampleQuery(presage, place));
  const predicted = useQuery(storedPredictionQuery(presage, sample.prediction.id));
  const isFreeRunning = run.mode === "free-running";
  const trajectory = useQuery({
    ...runTrajectoryQuery(presage, run.id, trajectoryId),
    enabled: isFreeRunning,
  });
  const before = trajectory.data?.samples.findLast((one) => one.repeat === repeat && one.step < step);
  const told = useQuery({
    ...storedPredictionQuery(presage, before?.prediction.id ?? ""),
    enabled: before !== undefined,
  });
  const failure = findQueryError([recorded, predicted, trajectory, told]);
  const isReady = !isFreeRunning || trajectory.data !== undefined;
  return (
    <>
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <StepBody
        run={run}
        names={names}
        sample={sample}
        recorded={isReady ? (recorded.data ?? undefined) : undefined}
        predicted={predicted.data}
        told={before === undefined ? undefined : { step: before.step, output: told.data?.output }}
      />
    </>
  );
}
