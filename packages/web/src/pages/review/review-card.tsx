import type { EvaluationResult, ReviewQueueItem } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { findQueryError, usePresage } from "../../data/client.ts";
import { datasetSampleQuery } from "../../data/datasets.ts";
import { evaluatorFamiliesQuery } from "../../data/evaluators.ts";
import { runQuery, runSampleQuery } from "../../data/runs.ts";
import { shortEvaluatorName } from "../../format/words.ts";
import { RunLink } from "../../parts/runs.tsx";
import { Fold } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { useNarrow } from "../../ui/screen.ts";
import { actionOf, StepTexts, sharesLines, stateOf } from "../../ui/steps/step-texts.tsx";
import { SampleName } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

interface ReviewCardProps {
  result: EvaluationResult;
  /** Undefined if the result was opened by its address. */
  item: ReviewQueueItem | undefined;
}

/** One output: the action and its recorded effect, next to the prediction. Shows no verdict that could influence the person. */
export function ReviewCard({ result, item }: ReviewCardProps) {
  const { evaluated_model_output: output, evaluated_model_gold_answer: gold } = result;
  const contexts = result.evaluated_model_retrieved_context ?? [];
  const { evaluator_id, evaluator_family, evaluation_run_id: run, dataset_sample_id: sample } = result;
  const { data: families } = useQuery(evaluatorFamiliesQuery(usePresage()));
  const family = families?.find(({ family_name }) => family_name === evaluator_family);
  return (
    <div className="grid min-w-0 grid-cols-1 gap-x-6 gap-y-3 p-4 lg:grid-cols-2 [&_.leading-5]:text-base">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-sm text-ink-2 lg:col-span-2">
        <h2 className="text-base font-semibold text-ink">Does the prediction pass?</h2>
        {item !== undefined && <span>{whyOf(item)}</span>}
        <Link
          to="/evaluations"
          search={{ result: result.id ?? "" }}
          className="text-accent-ink underline-offset-2 hover:underline sm:ml-auto"
        >
          Result {result.id}
        </Link>
        <p className="flex w-full min-w-0 flex-wrap gap-x-1.5 text-xs text-ink-3">
          <span>
            Judged by{" "}
            <b className="font-medium text-ink-2">
              {shortEvaluatorName({ evaluator: evaluator_id, profile_name: result.profile_name })}
            </b>
            {family && `: ${family.description}`}
          </span>
          {sample !== null && (
            <span className="flex min-w-0 flex-wrap gap-x-1.5">
              <SampleName id={String(sample)} />
              {run !== null && <RunLink id={run} />}
            </span>
          )}
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-3">
        <Asked result={result} />
        {contexts.map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list of one result never changes
          <PlainText key={index} text={text} label={`Context ${index + 1}`} />
        ))}
      </div>
      <div className="flex min-w-0 flex-col gap-3">
        {output !== null && gold !== null ? (
          <StepTexts
            before={gold}
            after={output}
            beforeLabel="Recorded"
            afterLabel="Predicted"
            isPredicted
            isStacked
          />
        ) : (
          <>
            {gold !== null && <PlainText text={gold} label="Recorded" />}
            {output !== null && <PlainText text={output} label="Output" />}
            {output === null && gold === null && <p className="text-sm text-ink-3">No output was stored.</p>}
          </>
        )}
      </div>
    </div>
  );
}

function whyOf({ reason, distance, evaluators, repeats }: ReviewQueueItem): string {
  const passes = (of: { passed: number; not_passed: number }, what: string) =>
    `${of.passed} of ${of.passed + of.not_passed} ${what} ${of.passed === 1 ? "passes" : "pass"}`;
  if (evaluators !== null) return `${passes(evaluators, "evaluators")} it`;
  if (repeats !== null) return passes(repeats, "repeats");
  if (distance !== null) return `Its score is ${distance.toFixed(3)} from its threshold`;
  return reason === "drawn" ? "Drawn at random" : "Judged by a model";
}

/** The action, and what it changed in the recording; without a recorded sample, the input. */
function Asked({ result }: { result: EvaluationResult }) {
  const presage = usePresage();
  const { evaluation_run_id: runId, dataset_sample_id: sampleId, evaluated_model_input: input } = result;
  const { evaluated_model_output: output } = result;
  // Clients can name runs as they like; their runs have no samples.
  const { data: run, isPending } = useQuery({
    ...runQuery(presage, runId ?? ""),
    enabled: runId !== null && sampleId !== null && result.dataset_id !== null,
    retry: false,
  });
  const samples = useQuery({
    ...runSampleQuery(presage, runId ?? "", String(sampleId)),
    enabled: run?.dataset_id != null,
  });
  const isNarrow = useNarrow();
  const isCompared = result.evaluated_model_gold_answer !== null && output !== null;
  const sample = samples.data?.[0];
  const place = {
    datasetId: result.dataset_id ?? "",
    revision: run?.revision ?? undefined,
    trajectoryId: sample?.trajectory_id ?? "",
    step: sample?.step ?? 0,
  };
  const recording = useQuery({ ...datasetSampleQuery(presage, place), enabled: sample !== undefined });
  const failure = findQueryError([samples, recording]);
  if (failure) return <ErrorNotice error={failure.error} onRetry={failure.retry} />;
  const recorded = recording.data;
  // The prediction is compared with the recording: again, it is shown only for what changed in it.
  const isRepeated =
    isCompared && recorded && (isNarrow || !sharesLines(stateOf(recorded), recorded.next_state));
  if (recorded)
    return (
      <>
        <PlainText text={actionOf(recorded)} label="Action" />
        {isRepeated ? (
          isNarrow ? (
            <Fold title="State before">
              <PlainText text={stateOf(recorded)} label="State" />
            </Fold>
          ) : (
            <PlainText text={stateOf(recorded)} label="State before" />
          )
        ) : (
          <StepTexts
            before={stateOf(recorded)}
            after={recorded.next_state}
            beforeLabel="State before"
            afterLabel="Recorded"
            isStacked
          />
        )}
      </>
    );
  const isComing = run?.dataset_id != null || (isPending && runId !== null && result.dataset_id !== null);
  return isComing || input === null ? null : <PlainText text={input} label="Input" />;
}
