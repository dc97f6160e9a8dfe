import { CommandError } from "../command-error.ts";
import type { OutputLine } from "../files/output-line.ts";
import { type FileWork, workThroughFile } from "../files/process-lines.ts";
import { readLines } from "../files/read-lines.ts";
import { type EvaluateSample, type EvaluationLine, evaluateLine } from "./evaluate-line.ts";
import { countOutcome, type OutcomeFigures, outcomeTable, passRate } from "./outcome-table.ts";

export interface EvaluateFileOptions extends Pick<FileWork<EvaluationLine>, "file" | "out" | "concurrency"> {
  runId: string;
  evaluators: readonly string[];
  /** From 0 to 1; every evaluator must reach it. */
  minPassRate: number | undefined;
}

/** Whether everything came to a verdict, and whether the verdicts are good enough. */
export interface FileVerdict {
  isComplete: boolean;
  isGoodEnough: boolean;
}

/** Evaluates every line of a file and tells how it went. */
export async function evaluateFile(
  evaluate: EvaluateSample,
  { runId, evaluators, minPassRate, ...options }: EvaluateFileOptions,
): Promise<FileVerdict> {
  const figures = new Map<string, OutcomeFigures>();
  let unusable = 0;
  const { worked, elapsedMs } = await workThroughFile<EvaluationLine>({
    ...options,
    noun: "evaluations",
    isFinished: (line: OutputLine): line is EvaluationLine => isFinished(line as EvaluationLine),
    work: (input, digest) => evaluateLine(evaluate, { runId, evaluators }, input, digest),
    onLine({ results }) {
      if (results === undefined) unusable += 1;
      for (const outcome of results ?? []) countOutcome(figures, outcome);
    },
  });
  const seconds = elapsedMs / 1000;
  process.stderr.write(`${outcomeTable(figures.values())}\n`);
  process.stderr.write(
    `run ${runId}: ${worked} lines in ${seconds.toFixed(1)} s, ${unusable} lines could not be evaluated\n`,
  );
  const all = [...figures.values()];
  return {
    // Where nothing was evaluated, nothing is good.
    isComplete: all.length > 0 && unusable === 0 && all.every(({ failed }) => failed === 0),
    isGoodEnough: minPassRate === undefined || all.every((of) => (passRate(of) ?? 0) >= minPassRate),
  };
}

/** A line whose judges failed is tried again. */
function isFinished({ results }: EvaluationLine): boolean {
  return results?.every(({ status }) => status !== "failed") ?? false;
}

/** The run that a file of evaluations belongs to, so that a second start goes on with it. */
export async function runIdOf(out: string, evaluators: readonly string[]): Promise<string | undefined> {
  for await (const { text } of readLines(out)) {
    const line = JSON.parse(text) as Partial<EvaluationLine>;
    if (typeof line.evaluation_run_id !== "string") {
      throw new CommandError(`${out} holds something else than evaluations; nothing was changed.`);
    }
    if (JSON.stringify(line.evaluators) === JSON.stringify(evaluators)) return line.evaluation_run_id;
    throw new CommandError(
      `${out} holds evaluations by ${line.evaluators?.join(", ")}; name another file. Nothing was changed.`,
    );
  }
  return undefined;
}
