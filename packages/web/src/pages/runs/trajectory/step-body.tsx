import type { DatasetSample, Run, RunSample, StoredPredictionDetail } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { Suspense } from "react";
import { usePresage } from "../../../data/client.ts";
import { resultQuery } from "../../../data/results.ts";
import { formatCount, formatDuration, formatShare } from "../../../format/numbers.ts";
import { PromptTurns, promptOf } from "../../../parts/prompt.tsx";
import { Fold, InlineFacts } from "../../../ui/card.tsx";
import { lazyPart } from "../../../ui/load.ts";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { actionOf, StepTexts, stateOf } from "../../../ui/steps/step-texts.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";

import { StepVerdicts, verdictOf } from "../run-verdicts.tsx";

/** Loaded separately, as few predictions need it. */
const StoredLeaning = lazyPart(async () => (await import("../../../parts/leaned-on.tsx")).StoredLeaning);

interface StepBodyProps {
  run: Pick<Run, "evaluators">;
  /** Of the run's evaluators. */
  names: readonly string[];
  sample: RunSample;
  /** Undefined while loading. */
  recorded: DatasetSample | undefined;
  /** Undefined while loading. */
  predicted: StoredPredictionDetail | undefined;
  /** The prediction of the previous step, which a free-running model is told. Undefined if it was told the recorded state. */
  told: { step: number; output: string | null | undefined } | undefined;
}

/** The texts of one prediction: the model's input, its output, and the recording. */
export function StepBody({ run, names, sample, recorded, predicted, told }: StepBodyProps) {
  const isTold = told === undefined || told.output !== undefined;
  if (recorded === undefined || predicted === undefined || !isTold) {
    return (
      <div role="status" className="flex flex-col gap-4">
        <span className="sr-only">Loading</span>
        <Skeleton className="h-5 w-80" />
        <Skeleton className="h-16" />
        <Skeleton className="h-64" />
      </div>
    );
  }
  const { output, reasoning, error_message } = predicted;
  return (
    <>
      <PlainText text={actionOf(recorded)} label="Action" />
      <section aria-label="Next state" className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">Next state: recorded and predicted</h3>
        {output === null ? (
          <>
            <Failure category={sample.prediction.error_category} message={error_message} />
            <PlainText text={recorded.next_state} label="Recorded" />
          </>
        ) : (
          <StepTexts
            before={recorded.next_state}
            after={output}
            beforeLabel="Recorded"
            afterLabel="Predicted"
            isPredicted
          />
        )}
      </section>
      <StepVerdicts run={run} sample={sample} names={names} />
      <section
        aria-label="Explanations"
        className="divide-y divide-line rounded-md border border-line empty:hidden"
      >
        {run.evaluators.map((evaluator, index) => {
          const { pass, evaluation_result_id: id } = verdictOf(sample, evaluator) ?? {};
          return pass === false && id && <Explanation key={id} resultId={id} name={names[index] ?? ""} />;
        })}
      </section>
      <PredictionFacts sample={sample} predicted={predicted} />
      <SeenState recorded={recorded} told={told} />
      {reasoning !== null && reasoning !== "" && <PlainText text={reasoning} label="Reasoning" isProse />}
      <Suspense>{predicted.world && <StoredLeaning of={predicted} />}</Suspense>
      <Fold title="Prompt as sent">
        <PromptTurns turns={promptOf(predicted)} />
      </Fold>
    </>
  );
}

/** Why an evaluator does not pass the prediction. */
function Explanation({ resultId, name }: { resultId: string; name: string }) {
  const { data } = useQuery(resultQuery(usePresage(), resultId));
  if (!data?.explanation) return null;
  return (
    <p className="px-3 py-1.5 text-sm wrap-anywhere text-ink-2">
      <span className="mr-2 font-medium text-ink">{name}</span>
      {[...new Set(data.explanation.split("\n"))].map((line) => (
        <span key={line} className="nth-[n+3]:block">
          <InlineText text={line} />
        </span>
      ))}
    </p>
  );
}

function SeenState({ recorded, told }: { recorded: DatasetSample; told: StepBodyProps["told"] }) {
  const state = stateOf(recorded);
  const seen = told?.output;
  return (
    <section aria-label="What the model saw" className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">What the model saw as state</h3>
      {told === undefined || typeof seen !== "string" ? (
        <>
          <p className="text-xs text-ink-3">
            {told === undefined
              ? "The recorded state."
              : `Nothing: its prediction for step ${told.step} had failed, so it was not asked.`}
          </p>
          <PlainText text={state} label="Recorded state" />
        </>
      ) : (
        <>
          <p className="text-xs text-ink-3">
            Its own prediction for step {told.step}, in place of the recorded state
            {seen === state ? ", with which it agrees." : "."}
          </p>
          <StepTexts
            before={state}
            after={seen}
            beforeLabel="Recorded state"
            afterLabel="What the model saw"
            isPredicted
          />
        </>
      )}
    </section>
  );
}

function PredictionFacts({
  sample: { prediction, changes, repeat },
  predicted: { model, confidence },
}: {
  sample: RunSample;
  predicted: StoredPredictionDetail;
}) {
  const { usage, latency_ms, finish_reason } = prediction;
  return (
    <InlineFacts
      facts={[
        [
          "Tokens",
          undefined,
          `${formatCount(usage.prompt_tokens)} in, ${formatCount(usage.completion_tokens)} out`,
        ],
        ["Latency", undefined, latency_ms === null ? null : formatDuration(latency_ms)],
        ["Finish", undefined, finish_reason],
        ["Model", undefined, model],
        ["Confidence", undefined, confidence === null ? null : formatShare(confidence)],
        ["Changes in the recording", undefined, changes === null ? null : formatCount(changes)],
        ["Repeat", undefined, repeat === 0 ? null : repeat + 1],
      ]}
    />
  );
}

const reasons: Record<string, string> = {
  missing: "No prediction for this sample was made or uploaded.",
  not_reached: "An earlier step of the free-running trajectory failed, so this one was not asked.",
};

function Failure({ category, message }: { category: string | null; message: string | null }) {
  return (
    <div className="flex gap-3 rounded-lg border border-warn/30 bg-warn-soft px-4 py-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <div className="min-w-0">
        <p className="font-medium text-warn">
          The prediction failed
          {category !== null && <code className="ml-2 font-mono text-xs">{category}</code>}
        </p>
        <p className="wrap-anywhere text-ink-2">
          {message ?? reasons[category ?? ""] ?? "The reason is not known."}
        </p>
      </div>
    </div>
  );
}
