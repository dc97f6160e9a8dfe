// Runs and their differences in words. The dashboard bundles this file too, so it imports only types and defaults.
import { defaultProfileName } from "../defaults.ts";
import type { ComparisonCandidate } from "./comparison.ts";
import type { RunGoal } from "./goal.ts";
import type { ReportEvaluator, Run, RunDraw, RunProgress } from "./run.ts";
import type { RunCalibration } from "./run-calibration.ts";
import type { RunFigures, RunPrevious, RunReport, RunSurvival } from "./run-report.ts";

type Compared = Omit<ComparisonCandidate, "strata" | "run_id">;

/** What a difference is measured in. */
export const measureNames: Record<Compared["measure"], string> = {
  score: "mean score",
  pass_rate: "pass rate",
};

/** “95 % interval +1.2 to +5.0” */
export function describeRange({ interval }: Pick<Compared, "interval">): string {
  if (interval === null) return "no interval";
  return `${Math.round(interval.level * 100)} % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
}

/** Says whether a model beats what its own records alone would answer: always the test's outcome. */
export function describeAgainstRecords(
  compared: Pick<Compared, "difference" | "interval" | "measure" | "outcome">,
): string {
  const { difference, measure, outcome } = compared;
  if (difference === null) return "The model and the records alone have no sample with a verdict in common.";
  const points = `${formatPoints(difference)} points of the ${measureNames[measure]} (${describeRange(compared)})`;
  if (outcome === "better") return `The model beats the records alone by ${points.replace("+", "")}.`;
  if (outcome === "worse") return `The model does not beat the records alone: ${points}.`;
  return `It is not shown that the model beats the records alone: ${points}.`;
}

type NamedEvaluator = Pick<ReportEvaluator, "evaluator" | "profile_name">;

/** An evaluator's name without its version. */
export function familyOf(evaluator: string): string {
  return evaluator.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

/** “exact-match”, or “exact-match loose” with a profile that is not its family's default. */
export function evaluatorName({ evaluator, profile_name: profile }: NamedEvaluator): string {
  const family = familyOf(evaluator);
  return profile === null || profile === defaultProfileName ? family : `${family} ${profile}`;
}

/** Whether an evaluator has this id or family and, if one is given, this profile. */
export function isMeant(wanted: NamedEvaluator, { evaluator, profile_name }: NamedEvaluator): boolean {
  return (
    (evaluator === wanted.evaluator || familyOf(evaluator) === wanted.evaluator) &&
    (wanted.profile_name === null || wanted.profile_name === profile_name)
  );
}

/** The evaluator whose figures stand for a run: the goal's, else the first with verdicts, else the first. */
export function mainEvaluator<One extends NamedEvaluator & Pick<RunFigures, "count">>(
  evaluators: readonly One[],
  goal: NamedEvaluator | null | undefined,
): One | undefined {
  return (
    evaluators.find((one) => goal != null && isMeant(goal, one)) ??
    evaluators.find(({ count }) => count > 0) ??
    evaluators[0]
  );
}

/** Says whether a run reaches its goal, with the figure and why: always what the server decided. */
export function describeGoal(
  { state, why, pass_rate: goal }: RunGoal,
  figures: Pick<RunFigures, "pass_rate" | "pass_interval" | "pass_rate_failures_as_zero"> | undefined,
  evaluator: string,
): string {
  const wanted = `the goal of ${share(goal)}`;
  const verdict = { met: "Goal met", missed: "Goal missed", undecided: "Undecided" }[state];
  if (why === "not_ended")
    return `${verdict}: the run has not ended. ${evaluator} is to pass ${share(goal)}.`;
  if (why === "no_figure" || figures === undefined || figures.pass_rate === null)
    return `${verdict}: the run has no verdict of ${evaluator}, which is to pass ${share(goal)}.`;
  const { pass_interval: interval, pass_rate_failures_as_zero: withFailures } = figures;
  const range = interval === null ? "" : ` (${share(interval.lower)} to ${share(interval.upper)})`;
  const reasons = {
    met: `and the whole interval reaches ${wanted}`,
    missed: `and the whole interval is below ${wanted}`,
    within_interval: `and ${wanted} lies within the interval`,
    leaky: "but its world was calibrated on samples of this dataset",
    pilot: "but a pilot of some samples meets no goal",
    no_interval: `but without an interval it cannot be held against ${wanted}`,
    failures: `but ${share(withFailures ?? 0)} if failures do not pass, below ${wanted}`,
  };
  const reason = reasons[why ?? (state === "missed" ? "missed" : "met")];
  return `${verdict}: ${evaluator} passes ${share(figures.pass_rate)}${range}, ${reason}.`;
}

/** “A pilot: 50 of 3,000 samples, drawn by seed 1.” */
export function describeDraw({ samples, of, seed }: RunDraw): string {
  const count = (number: number) => number.toLocaleString("en-US");
  return `A pilot: ${count(samples)} of ${count(of)} samples, drawn by seed ${seed}.`;
}

/** “85 %”, or “85.4 %” */
function share(value: number): string {
  return `${(100 * value).toFixed(1).replace(/\.0$/, "")} %`;
}

/** Says by how much a run differs from the previous one, and what they were made with: “+2.1 points of the pass rate (+0.4 to +3.8); model a → b” */
export function describePrevious(
  { changes, unchanged }: Pick<RunPrevious, "changes" | "unchanged">,
  compared: Pick<RunPrevious["evaluators"][number], "difference" | "interval" | "measure"> | undefined,
  { withParams = true }: { withParams?: boolean } = {},
): string {
  const { difference = null, interval = null, measure = "score" } = compared ?? {};
  const range =
    interval === null ? "no interval" : `${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  const parts = [
    difference === null
      ? "no sample in common"
      : `${formatPoints(difference)} points of the ${measureNames[measure]} (${range})`,
    ...changes.filter(({ what }) => withParams || !what.startsWith("params.")).map(describeAspect),
    ...(!withParams && changes.some(({ what }) => what.startsWith("params.")) ? ["params differ"] : []),
    ...(unchanged.includes("model") ? ["model the same"] : []),
    ...(changes.length === 0 ? ["nothing else differs"] : []),
  ];
  return parts.join("; ");
}

/** “temperature default → 0.7”, or “rouge-l no longer measured” */
function describeAspect({ what, before, after }: RunPrevious["changes"][number]): string {
  const isEvaluator = / revision \d+$/.test(after ?? before ?? "");
  if (isEvaluator && before === null) return `${what} newly measured`;
  if (isEvaluator && after === null) return `${what} no longer measured`;
  const absent = what.startsWith("params.") ? "default" : what === "samples" ? "all" : "none";
  return `${what.replace(/^params\./, "")} ${before ?? absent} → ${after ?? absent}`;
}

/** “Since the last run of this name” */
export function nameOfPrevious({ by, name }: Pick<RunPrevious, "by" | "name">): string {
  return by === "name" ? "Since the last run of this name" : `Since ${name}, the last run of this target`;
}

/** What a report says about its run's goal. */
export function describeDecision({ goal, evaluators }: Pick<RunReport, "goal" | "evaluators">): string[] {
  if (goal === null) return [];
  const meant = evaluators.find((one) => isMeant(goal, one));
  return [describeGoal(goal, meant, evaluatorName(meant ?? goal))];
}

/** What a report says has changed since the previous run. Nothing if they have no sample in common, such as two pilots. */
export function describeChange(
  { previous }: Pick<RunReport, "previous">,
  options?: { withParams?: boolean },
): string[] {
  const first = previous?.evaluators.find(({ difference }) => difference !== null);
  if (previous === null || first === undefined) return [];
  return [
    `${nameOfPrevious(previous)} by ${evaluatorName(first)}: ${describePrevious(previous, first, options)}`,
  ];
}

/** A sentence, and what qualifies it. */
export function withNote({ sentence, note }: { sentence: string; note: string | null }): string {
  return [sentence, note ?? ""].join(" ").trim();
}

/** Says for how many predictions a world left the sample's own trajectory out of the examples. */
export function describeLeftOut(world: RunReport["world"]): string | undefined {
  if (world === undefined || world.leaves_out === 0) return undefined;
  const count =
    world.leaves_out === 1 ? "1 prediction" : `${world.leaves_out.toLocaleString("en-US")} predictions`;
  return `The figures are leave one out: the examples have the trajectories of ${count}, each of which was made without its own.`;
}

/** +3.1, or −3.1: a difference of scores or shares in percentage points. */
export function formatPoints(difference: number | null): string {
  if (difference === null) return "–";
  const points = Math.abs(difference) * 100;
  if (points < 0.001) return "0.0";
  return `${difference < 0 ? "−" : "+"}${points < 0.095 ? points.toPrecision(1) : points.toFixed(1)}`;
}

/** The same without a sign: how far two are apart. */
export function formatPointsApart(difference: number | null): string {
  return formatPoints(difference).replace(/^[+−]/, "");
}

/** “p = 0.012”, or “p < 0.001”; with more digits where three would hide on which side of 0.05 it is. */
export function describeP(p: number): string {
  const digits = p < 0.05 && p.toFixed(3) === "0.050" ? 5 : 3;
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(digits)}`;
}

/** What predicts, by name. */
export function describeTarget(target: Run["target"]): string {
  if ("deployment" in target)
    return target.model ? `${target.deployment}, ${target.model}` : target.deployment;
  if ("baseline" in target) return target.baseline;
  if ("world" in target) return target.world;
  return "predictions" in target ? "imported predictions" : "external";
}

const some = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];

/** What is missing from a run, in words: failed predictions and missing verdicts, under the same names everywhere. */
export function describeFailures({ failed_predictions, without_verdict }: RunProgress): string[] {
  return [
    ...some(failed_predictions, "prediction failed", "predictions failed"),
    ...some(without_verdict, "without a verdict", "without a verdict"),
  ];
}

/** What a run's failures do not show, in words: answers that are not what they seem, and calls that were tried again. */
export function describeTrouble({ answers, tries }: Pick<RunProgress, "answers" | "tries">): string[] {
  const { truncated = 0, empty = 0, repaired = 0 } = answers ?? {};
  const { retried = {}, timed_out = 0, at_once } = tries ?? {};
  const kinds = Object.entries(retried).map(([category, count]) => `${category} ${count}`);
  const calls = Object.values(retried).reduce((sum, count) => sum + count, 0);
  const byKind = `tried again (${kinds.join(", ")})`;
  return [
    ...some(truncated, "answer cut", "answers cut"),
    ...some(empty, "answer empty", "answers empty"),
    ...some(repaired, "verdict on a repaired answer", "verdicts on repaired answers"),
    ...some(calls, `call ${byKind}`, `calls ${byKind}`),
    ...some(timed_out, "call timed out", "calls timed out"),
    ...(at_once === undefined ? [] : [`the deployment answers about ${at_once} at once`]),
  ];
}

/** Says how free-running trajectories ended, and when half had diverged. */
export function describeSurvival(
  { trajectories, endings, seed, ...curve }: RunSurvival,
  { status, provenance }: Pick<Run, "status" | "provenance">,
): string {
  const count = (number: number) => number.toLocaleString("en-US");
  const isWhole = status === "finished" && !provenance.draw;
  const end = isWhole ? "the recording" : "the recording or of what the run has done";
  const { diverged, recording_ended, prediction_failed, evaluator_failed } = endings;
  const ended = [
    `${count(diverged)} diverged`,
    `${count(recording_ended)} lasted to the end of ${end}`,
    ...(prediction_failed === 0 ? [] : [`${count(prediction_failed)} ended with a failed prediction`]),
    ...(evaluator_failed === 0 ? [] : [`${count(evaluator_failed)} ended with a failed evaluator`]),
  ].join(", ");
  const all = `${count(trajectories)} ${trajectories === 1 ? "trajectory" : "trajectories"}`;
  return `Of ${all},${seed === null ? "" : " each repeat counted,"} ${ended}. ${describeMedian({ trajectories, ...curve })}`;
}

/** Says after which step half have diverged, and never more than was seen. */
export function describeMedian({
  trajectories,
  median,
  steps,
}: Pick<RunSurvival, "trajectories" | "median" | "steps">): string {
  if (median !== null) {
    const seen = steps.reduce((sum, { step, diverged }) => sum + (step > median ? 0 : diverged), 0);
    return 2 * seen < trajectories
      ? `By step ${median}, half would have diverged if those that ended earlier had gone on alike.`
      : `By step ${median}, at least half had diverged.`;
  }
  const last = steps.at(-1);
  if (last === undefined) return "Nothing is known: none has a verdict on its first step.";
  return `More than half had not yet diverged after step ${last.step}, the last with a verdict.`;
}

/** Says how a survival curve and its intervals are made. */
export function describeSurvivalMethod({ seed }: Pick<RunSurvival, "seed">): string {
  const intervals = seed === null ? "log-log Greenwood" : "2,000 bootstrap resamples of trajectories";
  return `Kaplan–Meier with 95\u00a0% intervals by ${intervals}; ends of recordings and failures are censored.`;
}

/** Says what share of a run's predictions can be kept so that few of them are wrong. */
export function describeCoverage({ value, risk, note }: RunCalibration["coverage_at_risk"]): string {
  const few = `at most ${percent(risk)} are wrong`;
  if (value === null) return note ?? "";
  if (value === 0)
    return `No confidence is high enough: even the surest answers may be wrong more than ${percent(risk)} of the time.`;
  if (value === 1) return `Of all predictions, ${few}.`;
  return `If you keep only the ${percent(value)} it is surest of, ${few}.`;
}

/** “62 %”, rounded down so that no more is said than is so. */
function percent(share: number): string {
  return `${Math.floor(100 * share + 1e-9)} %`;
}
