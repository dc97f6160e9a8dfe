import type { OutputLine } from "../files/output-line.ts";
import { type FileReport, type FileWork, workThroughFile } from "../files/process-lines.ts";
import type { Predict } from "./predict-command.ts";
import { type PredictionLine, predictLine } from "./predict-line.ts";

export interface PredictFileOptions extends Pick<FileWork<PredictionLine>, "file" | "out" | "concurrency"> {
  /** Whether a line is written with its context, which is the longest part of it. */
  keepsContext: boolean;
}

interface Tally {
  predicted: number;
  failed: number;
  /** Predictions whose true next state is known, and how many of them equal it. */
  comparable: number;
  exact: number;
}

/** Predicts every line of a file and returns the number of failures. */
export async function predictFile(
  predict: Predict,
  { keepsContext, ...options }: PredictFileOptions,
): Promise<number> {
  const tally: Tally = { predicted: 0, failed: 0, comparable: 0, exact: 0 };
  const report = await workThroughFile<PredictionLine>({
    ...options,
    noun: "predictions",
    isFinished: (line: OutputLine): line is PredictionLine => line.prediction !== undefined,
    work: (input, digest) => predictLine(predict, input, digest, keepsContext),
    onLine: (line) => count(tally, line),
  });
  process.stderr.write(summary(tally, report));
  return tally.failed;
}

function count(tally: Tally, line: PredictionLine): void {
  if (line.prediction === undefined) tally.failed += 1;
  else tally.predicted += 1;
  if (line.exact_match === undefined) return;
  tally.comparable += 1;
  if (line.exact_match) tally.exact += 1;
}

function summary({ predicted, failed, comparable, exact }: Tally, { worked, elapsedMs }: FileReport): string {
  const seconds = elapsedMs / 1000;
  const rate = `${worked} asked in ${seconds.toFixed(1)} s, ${(worked / seconds).toFixed(1)} a second`;
  const lines = [`${predicted} predictions, ${failed} failures (${rate})`];
  if (comparable > 0) {
    lines.push(
      `exact match: ${exact} of ${comparable} (${((100 * exact) / comparable).toFixed(1)} %), white space at the ends aside`,
    );
  }
  return `${lines.join("\n")}\n`;
}
