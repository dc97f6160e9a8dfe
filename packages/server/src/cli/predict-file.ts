import { countOf } from "../platform/words.ts";
import { collectFailureReasons } from "./failure-reasons.ts";
import type { OutputLine } from "./output-lines.ts";
import { type Predict, type PredictionLine, predictLine } from "./predict-line.ts";
import { printNotice } from "./print-notice.ts";
import { type ProcessLinesOptions, type Progress, processLines } from "./process-lines.ts";

export interface PredictFileOptions
  extends Pick<ProcessLinesOptions<PredictionLine>, "file" | "output" | "concurrency"> {
  /** Whether output lines include the context, which is their longest part. */
  keepsContext: boolean;
}

interface Counts {
  predicted: number;
  failed: number;
  /** Predictions whose true next state is known, and how many of them equal it. */
  comparable: number;
  exact: number;
}

/** Predicts each line of a file, prints a summary and returns the number of failures. */
export async function predictFile(
  predict: Predict,
  { keepsContext, ...options }: PredictFileOptions,
): Promise<number> {
  const counts: Counts = { predicted: 0, failed: 0, comparable: 0, exact: 0 };
  const reasons = collectFailureReasons();
  const progress = await processLines<PredictionLine>({
    ...options,
    noun: "predictions",
    isFinished: (line: OutputLine): line is PredictionLine => line.prediction !== undefined,
    process: (input, digest) => predictLine(predict, input, digest, keepsContext),
    onLine(line) {
      count(counts, line);
      if (line.error !== undefined) reasons.add(line.line, line.error.detail);
    },
  });
  printNotice([...summary(counts, progress), ...reasons.describe()].join("\n"));
  return counts.failed;
}

function count(counts: Counts, line: PredictionLine): void {
  if (line.prediction === undefined) counts.failed += 1;
  else counts.predicted += 1;
  if (line.exact_match === undefined) return;
  counts.comparable += 1;
  if (line.exact_match) counts.exact += 1;
}

function summary(
  { predicted, failed, comparable, exact }: Counts,
  { processed, elapsedMs }: Progress,
): string[] {
  const seconds = elapsedMs / 1000;
  const rate = `${processed} requested in ${seconds.toFixed(1)} s, ${(processed / seconds).toFixed(1)} per second`;
  const predictions = `${countOf(predicted, "prediction")}, ${countOf(failed, "failure")} (${rate})`;
  if (comparable === 0) return [predictions];
  const share = ((100 * exact) / comparable).toFixed(1);
  return [
    predictions,
    `exact match: ${exact} of ${comparable} (${share} %), ignoring leading and trailing white space`,
  ];
}
