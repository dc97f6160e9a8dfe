import type { Run, RunSample } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import { findQueryError } from "../../../data/query-errors.ts";
import { datasetSampleQuery } from "../../../data/runs/datasets.ts";
import { storedPredictionQuery } from "../../../data/stored-predictions.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { StepPager } from "../../../ui/steps/step-pager.tsx";
import { StepBody } from "./step-body.tsx";
import { StepVerdicts } from "./step-verdicts.tsx";

interface PredictedStepProps {
  run: Run;
  sample: RunSample;
  /** The step before it in the same repeat. */
  before: RunSample | undefined;
  /** Of the run's evaluators. */
  names: readonly string[];
  steps: readonly number[];
  link(step: number): LinkProps;
}

/** One step of a run: what the model saw, what it predicted, and what was recorded. */
export function PredictedStep({ run, sample, before, names, steps, link }: PredictedStepProps) {
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
        <StepVerdicts run={run} sample={sample} names={names} />
        {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
        <StepBody
          sample={sample}
          recorded={recorded.data ?? undefined}
          predicted={predicted.data}
          told={isFreeRunning ? { step: before.step, output: told.data?.output } : undefined}
        />
      </div>
    </Card>
  );
}
