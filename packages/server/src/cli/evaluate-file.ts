import { existsSync } from "node:fs";
import { hasFailed } from "../evaluators/outcome.ts";
import { countOf } from "../platform/words.ts";
import { CommandError } from "./command-error.ts";
import {
  type EvaluateLineOptions,
  type EvaluateSample,
  type EvaluationLine,
  evaluateLine,
} from "./evaluate-line.ts";
import { collectFailureReasons } from "./failure-reasons.ts";
import {
  countOutcome,
  type OutcomeCounts,
  outcomeName,
  outcomeTable,
  passRate,
  percent,
  verdictsOf,
} from "./outcome-table.ts";
import type { OutputLine } from "./output-lines.ts";
import { printNotice } from "./print-notice.ts";
import { type ProcessLinesOptions, processLines } from "./process-lines.ts";
import { readLines } from "./read-lines.ts";

/** Columns, if the output is not a terminal. */
const defaultWidth = 80;

export interface EvaluateFileOptions
  extends EvaluateLineOptions,
    Pick<ProcessLinesOptions<EvaluationLine>, "file" | "output" | "concurrency"> {
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
  { runId, evaluators, metadata, minPassRate, ...options }: EvaluateFileOptions,
): Promise<FileEvaluation> {
  const counts = new Map<string, OutcomeCounts>();
  const reasons = collectFailureReasons();
  let failedLines = 0;
  const { processed, elapsedMs } = await processLines<EvaluationLine>({
    ...options,
    noun: "evaluations",
    isFinished: (line: OutputLine): line is EvaluationLine => isFinished(line as EvaluationLine),
    process: (input, digest) => evaluateLine(evaluate, { runId, evaluators, metadata }, input, digest),
    onLine({ line, cluster_id = null, results = [], error }) {
      if (error !== undefined) reasons.add(line, error.detail);
      for (const outcome of results) {
        countOutcome(counts, outcome, cluster_id);
        if (hasFailed(outcome))
          reasons.add(line, outcome.error_message ?? outcome.status, outcomeName(outcome));
      }
      if (error !== undefined || results.some(hasFailed)) failedLines += 1;
    },
  });
  const all = [...counts.values()];
  const missed = all.filter((of) => minPassRate !== undefined && (passRate(of) ?? 0) < minPassRate);
  const seconds = (elapsedMs / 1000).toFixed(1);
  process.stderr.write(`${outcomeTable(all, process.stderr.columns ?? defaultWidth)}\n`);
  printNotice(
    [
      `${countOf(processed, "line")} in ${seconds} s; ${countOf(failedLines, "line")} with failures`,
      ...reasons.describe(),
      ...missed.map((of) => `${describeMiss(of)} --min-pass-rate ${minPassRate}`),
    ].join("\n"),
  );
  return {
    isComplete: all.length > 0 && failedLines === 0 && all.every(({ failed }) => failed === 0),
    reachesPassRate: missed.length === 0,
  };
}

function describeMiss(of: OutcomeCounts): string {
  const verdicts = verdictsOf(of);
  if (verdicts === 0) return `${of.name}: no verdicts, so it does not reach`;
  return `${of.name}: ${of.passed} of ${verdicts} passed (${percent(passRate(of))}), which is below`;
}

/** Lines with a failed evaluation are evaluated again, as are those of an earlier version, which name no cluster. */
function isFinished({ cluster_id, results }: EvaluationLine): boolean {
  return (
    cluster_id !== undefined &&
    (results?.every(({ status }) => status !== "failed" && status !== "contradictory") ?? false)
  );
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
