import { existsSync } from "node:fs";
import { CommandError } from "../command-error.ts";
import { counted } from "../counted.ts";
import type { OutputLine } from "../files/output-lines.ts";
import { type ProcessLinesOptions, processLines } from "../files/process-lines.ts";
import { readLines } from "../files/read-lines.ts";
import { type EvaluateSample, type EvaluationLine, evaluateLine } from "./evaluate-line.ts";
import { countOutcome, type OutcomeCounts, outcomeTable, passRate } from "./outcome-table.ts";

export interface EvaluateFileOptions
  extends Pick<ProcessLinesOptions<EvaluationLine>, "file" | "out" | "concurrency"> {
  runId: string;
  evaluators: readonly string[];
  /** From 0 to 1; each evaluator must reach it. */
  minPassRate: number | undefined;
}

export interface FileEvaluation {
  /** Something was evaluated, and nothing failed. */
  isComplete: boolean;
  reachesPassRate: boolean;
}

/** Evaluates each line of a file and prints a summary. */
export async function evaluateFile(
  evaluate: EvaluateSample,
  { runId, evaluators, minPassRate, ...options }: EvaluateFileOptions,
): Promise<FileEvaluation> {
  const counts = new Map<string, OutcomeCounts>();
  let failedLines = 0;
  const { processed, elapsedMs } = await processLines<EvaluationLine>({
    ...options,
    noun: "evaluations",
    isFinished: (line: OutputLine): line is EvaluationLine => isFinished(line as EvaluationLine),
    process: (input, digest) => evaluateLine(evaluate, { runId, evaluators }, input, digest),
    onLine({ results }) {
      if (results === undefined) failedLines += 1;
      for (const outcome of results ?? []) countOutcome(counts, outcome);
    },
  });
  const seconds = (elapsedMs / 1000).toFixed(1);
  process.stderr.write(
    `${outcomeTable(counts.values())}\nrun ${runId}: ${counted(processed, "line")} in ${seconds} s, ${counted(failedLines, "line")} could not be evaluated\n`,
  );
  const all = [...counts.values()];
  return {
    isComplete: all.length > 0 && failedLines === 0 && all.every(({ failed }) => failed === 0),
    reachesPassRate: minPassRate === undefined || all.every((of) => (passRate(of) ?? 0) >= minPassRate),
  };
}

/** Lines with a failed evaluation are evaluated again. */
function isFinished({ results }: EvaluationLine): boolean {
  return results?.every(({ status }) => status !== "failed") ?? false;
}

/** The run that an existing file of evaluations belongs to, so that a second start of the command resumes it. */
export async function findRunId(
  out: string | undefined,
  evaluators: readonly string[],
): Promise<string | undefined> {
  if (out === undefined || !existsSync(out)) return undefined;
  for await (const { text } of readLines(out)) {
    const line = JSON.parse(text) as Partial<EvaluationLine>;
    if (typeof line.evaluation_run_id !== "string") {
      throw new CommandError(`${out} contains something other than evaluations; nothing was changed.`);
    }
    if (JSON.stringify(line.evaluators) === JSON.stringify(evaluators)) return line.evaluation_run_id;
    throw new CommandError(
      `${out} contains evaluations by ${line.evaluators?.join(", ")}; name another file. Nothing was changed.`,
    );
  }
  return undefined;
}
