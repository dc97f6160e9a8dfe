import type { ReportEvaluator, RunSample } from "@presage/sdk";

export type RunVerdict = RunSample["verdicts"][number];

/** The verdict of one of a run's evaluators; undefined until it has returned. */
export function verdictOf(
  { verdicts }: Pick<RunSample, "verdicts">,
  { evaluator, profile_name }: ReportEvaluator,
): RunVerdict | undefined {
  return verdicts.find((verdict) => verdict.evaluator === evaluator && verdict.profile_name === profile_name);
}
