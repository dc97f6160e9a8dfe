import type { ReportEvaluator, Run, RunSample } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatScore } from "../../format/numbers.ts";
import { VerdictBadge } from "../../ui/verdict.tsx";

export type RunVerdict = RunSample["verdicts"][number];

/** The verdict of one of a run's evaluators; undefined until the evaluator has returned. */
export function verdictOf(
  { verdicts }: Pick<RunSample, "verdicts">,
  { evaluator, profile_name }: ReportEvaluator,
): RunVerdict | undefined {
  return verdicts.find((verdict) => verdict.evaluator === evaluator && verdict.profile_name === profile_name);
}

interface StepVerdictsProps {
  run: Pick<Run, "evaluators">;
  sample: RunSample;
  /** The names of the run's evaluators. */
  names: readonly string[];
}

/** The verdicts of all evaluators on one prediction, each with a link to the evaluation result, which gives the reason. */
export function StepVerdicts({ run, sample, names }: StepVerdictsProps) {
  return (
    <ul aria-label="Verdicts" className="flex flex-wrap gap-2">
      {run.evaluators.map((evaluator, index) => {
        const verdict = verdictOf(sample, evaluator);
        const resultId = verdict?.evaluation_result_id ?? undefined;
        const content = (
          <>
            <span className="truncate text-ink-2">{names[index]}</span>
            {verdict === undefined ? (
              <span className="text-xs text-ink-3">no verdict</span>
            ) : (
              <>
                <VerdictBadge status={verdict.status} pass={verdict.pass} />
                <span className="tabular-nums">{formatScore(verdict.score)}</span>
              </>
            )}
          </>
        );
        const look = "flex max-w-full items-center gap-2 rounded-md border border-line px-2 py-1 text-sm";
        return (
          <li key={`${evaluator.evaluator} ${evaluator.profile_name}`} className="min-w-0">
            {resultId === undefined ? (
              <span className={look}>{content}</span>
            ) : (
              <Link
                to="/evaluations"
                search={{ result: resultId }}
                preload={false}
                title={`${evaluator.evaluator}, ${evaluator.profile_name} revision ${evaluator.profile_revision}: open the result`}
                className={`${look} hover:bg-hover`}
              >
                {content}
              </Link>
            )}
          </li>
        );
      })}
    </ul>
  );
}
