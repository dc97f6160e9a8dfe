import type { ReportEvaluator, RunSample } from "@presage/sdk";
import { formatDuration } from "../../../format/numbers.ts";
import type { DataColumn } from "../../../ui/data-table/columns.ts";
import { Beginning, SampleName } from "../../../ui/untrusted-text/inline-text.tsx";
import { VerdictMark, verdictColumnWidthPx } from "../../../ui/verdict.tsx";
import { type RunVerdict, verdictOf } from "../run-verdicts.tsx";
import { evaluatorColumnId } from "./matrix-request.ts";

interface VerdictCellProps {
  sample: Pick<RunSample, "prediction">;
  /** Undefined until the evaluator has returned. */
  verdict: RunVerdict | undefined;
}

function VerdictCell({ sample, verdict }: VerdictCellProps) {
  if (verdict !== undefined)
    return <VerdictMark status={verdict.status} pass={verdict.pass} score={verdict.score} />;
  const isFailed = sample.prediction.status === "failed";
  return (
    <span className="text-ink-3" title={isFailed ? "The prediction failed" : "Not judged yet"}>
      –<span className="sr-only">{isFailed ? "the prediction failed" : "not judged yet"}</span>
    </span>
  );
}

/** One column per evaluator, between the columns about the sample and those about its prediction. */
export function matrixColumns(
  evaluators: readonly ReportEvaluator[],
  names: readonly string[],
): DataColumn<RunSample>[] {
  const ofEvaluators = evaluators.map(
    (evaluator, index): DataColumn<RunSample> => ({
      id: evaluatorColumnId(index),
      label: names[index] ?? evaluator.evaluator,
      hint: `Verdict and score by ${evaluator.evaluator}, ${evaluator.profile_name} revision ${evaluator.profile_revision}. Sorted by score; predictions without one count as the lowest.`,
      value: (sample) => verdictOf(sample, evaluator)?.score,
      cell: (sample) => <VerdictCell sample={sample} verdict={verdictOf(sample, evaluator)} />,
      isNumber: true,
      isSortable: true,
      widthPx: verdictColumnWidthPx(names[index] ?? ""),
    }),
  );
  return [first, step, ...ofEvaluators, ...rest];
}

const first: DataColumn<RunSample> = {
  id: "sample",
  label: "Sample",
  hint: "In the order of the dataset unless another column is sorted",
  value: ({ dataset_sample_id }) => dataset_sample_id,
  cell: ({ dataset_sample_id, repeat }) => (
    <SampleName id={dataset_sample_id}>
      {repeat > 0 && <span className="text-ink-3"> ·{repeat + 1}</span>}
    </SampleName>
  ),
  isSortable: false,
  isFixed: true,
  widthPx: 176,
};

const step: DataColumn<RunSample> = {
  id: "step",
  label: "Step",
  hint: "Its position in the trajectory",
  value: ({ step }) => step,
  isNumber: true,
  isSortable: true,
  widthPx: 80,
  isExtra: true,
};

const rest: DataColumn<RunSample>[] = [
  {
    id: "verb",
    label: "Action",
    hint: "The action; of a conversation, its last message",
    value: ({ action }) => action,
    cell: ({ action }) => <Beginning text={action} />,
    isSortable: false,
    isElastic: true,
    widthPx: 136,
  },
  {
    id: "prediction",
    label: "Predicted",
    hint: "The beginning of what the model predicted",
    value: ({ prediction }) => prediction.excerpt,
    cell: ({ expected, prediction: { status, error_category, excerpt } }) =>
      status === "failed" ? (
        <span className="text-warn">Failed{error_category !== null && `: ${error_category}`}</span>
      ) : (
        <Beginning text={excerpt} beside={expected} />
      ),
    isSortable: false,
    isElastic: true,
    widthPx: 160,
  },
  {
    id: "recorded",
    label: "Recorded",
    hint: "The beginning of the next state in the recording",
    value: ({ expected }) => expected,
    cell: ({ expected, prediction: { excerpt } }) => <Beginning text={expected} beside={excerpt} />,
    isSortable: false,
    isElastic: true,
    widthPx: 160,
  },
  {
    id: "changes",
    label: "Changes",
    hint: "How much the state changed in the recording; – where that cannot be counted",
    value: ({ changes }) => changes,
    isNumber: true,
    isSortable: true,
    widthPx: 104,
    isExtra: true,
  },
  {
    id: "tokens",
    label: "Tokens",
    hint: "Completion tokens as the upstream counted them",
    value: ({ prediction }) => prediction.usage.completion_tokens,
    isNumber: true,
    isSortable: true,
    widthPx: 84,
    isExtra: true,
  },
  {
    id: "latency",
    label: "Latency",
    hint: "How long the prediction took; – if no model was called",
    value: ({ prediction }) => prediction.latency_ms,
    cell: ({ prediction: { latency_ms } }) =>
      latency_ms === null ? <span className="text-ink-3">–</span> : formatDuration(latency_ms),
    isNumber: true,
    isSortable: true,
    widthPx: 88,
    isExtra: true,
  },
];

/** The name of a row, for copies and screen readers. */
export function nameOfRow({ dataset_sample_id, repeat }: RunSample): string {
  return repeat === 0 ? dataset_sample_id : `${dataset_sample_id}, repeat ${repeat + 1}`;
}
