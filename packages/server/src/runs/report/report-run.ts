import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunEvaluatorReport, RunFigures, RunReport, RunStratum, TeacherForced } from "@presage/contract";
import { samplingDefaults } from "@presage/contract/defaults";
import { preliminaryNote } from "@presage/contract/describe-comparison";
import { describeDraw } from "@presage/contract/describe-runs";
import type { Prices } from "../../platform/prices.ts";
import { microsPerSecond } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { readClientResults } from "../client/client-results.ts";
import { comparisonMemoryBytes } from "../compare/compare-runs.ts";
import { judgeGoal, selectGoalsOf } from "../goals.ts";
import { findBaseline, readBaselines } from "../headlines/baselines.ts";
import { findPrevious } from "../headlines/previous.ts";
import { withCorrected } from "../labels/corrected.ts";
import {
  asksDeployment,
  isClientRun,
  isPreliminary,
  isSameEvaluator,
  type Run,
  runCost,
  samplesOfRevision,
  toEvaluatorNames,
} from "../run.ts";
import { refuseDeleted } from "../runs.ts";
import { selectRun } from "../runs-store.ts";
import { reportEnds } from "./ends.ts";
import {
  hasOutcomes,
  meanWithFailures,
  reportAgainstRecords,
  reportWorld,
  sumsBy,
  toFigures,
  worldWarnings,
} from "./figures.ts";
import {
  type Outcomes,
  type PredictionTotals,
  readFailedPredictions,
  readOutcomes,
  totalPredictions,
} from "./outcomes.ts";
import {
  byChanges,
  byStep,
  byTag,
  byTrajectory,
  byVerb,
  byWhetherChanged,
  type Dimension,
  firstOf,
  type RunSamples,
  readRunSamples,
  together,
} from "./samples.ts";
import { findTeacherForced, reportSurvival } from "./survival.ts";

const mostTrajectories = 200;

/** The groups that a revision's samples are in, the same for each evaluator. */
interface ReportDimensions {
  step: ReturnType<typeof byStep>;
  trajectory: Dimension;
  changed: Dimension;
  changes: Dimension;
  verb: Dimension;
  tag: Awaited<ReturnType<typeof byTag>>;
}

async function reportDimensions(samples: RunSamples): Promise<ReportDimensions> {
  const step = byStep(samples);
  await nextTurn();
  const changed = byWhetherChanged(samples);
  const changes = byChanges(samples);
  await nextTurn();
  const verb = await byVerb(samples);
  await nextTurn();
  return { step, trajectory: byTrajectory(samples), changed, changes, verb, tag: await byTag(samples) };
}

/** The figures of all samples, and of the groups that have any. */
async function reportOutcomes(
  dimensions: ReportDimensions,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<RunFigures & Pick<RunEvaluatorReport, "strata" | "strata_left_out">> {
  const some = (dimension: Dimension) => strataOf(dimension, samples, outcomes);
  const worst = await worstTrajectories(dimensions.trajectory, samples, outcomes);
  return {
    ...(await overallFigures(samples, outcomes)),
    strata: {
      step: await some(dimensions.step.dimension),
      trajectory: worst.strata,
      changed: await fixedStrata(dimensions.changed, samples, outcomes),
      changes: await fixedStrata(dimensions.changes, samples, outcomes),
      verb: await some(dimensions.verb),
      tag: await some(dimensions.tag.dimension),
    },
    strata_left_out: {
      step: dimensions.step.leftOut,
      trajectory: worst.leftOut,
      tag: dimensions.tag.leftOut,
    },
  };
}

/** The figures of all samples by one evaluator. */
export async function overallFigures(samples: RunSamples, outcomes: Outcomes): Promise<RunFigures> {
  return toFigures(await sumsBy(together(samples), samples, outcomes), 0);
}

/** The groups with a verdict or a failure, in the order of their keys, and the first ones even if they are empty. */
async function strataOf(dimension: Dimension, samples: RunSamples, outcomes: Outcomes, alwaysShown = 0) {
  const sums = await sumsBy(dimension, samples, outcomes);
  return dimension.keys.flatMap((key, group) =>
    group < alwaysShown || hasOutcomes(sums, group) ? { key, ...toFigures(sums, group) } : [],
  );
}

/** Groups that are known beforehand; the last group is for unknown values. */
async function fixedStrata(dimension: Dimension, samples: RunSamples, outcomes: Outcomes) {
  return await strataOf(dimension, samples, outcomes, dimension.keys.length - 1);
}

/** Computes figures only for the trajectories that are shown, because there may be many. */
async function worstTrajectories(
  dimension: Dimension,
  samples: RunSamples,
  outcomes: Outcomes,
): Promise<{ strata: RunStratum[]; leftOut: number }> {
  const sums = await sumsBy(dimension, samples, outcomes);
  let known = 0;
  function* withMeans() {
    for (const [group, key] of dimension.keys.entries()) {
      const mean = meanWithFailures(sums, group);
      if (mean === null) continue;
      known += 1;
      yield { key, group, mean };
    }
  }
  const worst = await firstOf(
    withMeans(),
    mostTrajectories,
    (a, b) => a.mean - b.mean || (a.key < b.key ? -1 : 1),
  );
  return {
    strata: worst.map(({ key, group }) => ({ key, ...toFigures(sums, group) })),
    leftOut: known - worst.length,
  };
}

/** Figures of a run that its client makes, from the results that name the run. */
async function reportClientResults(
  reader: Database,
  run: Run,
): Promise<{ evaluators: RunReport["evaluators"]; failures: Record<string, number> }> {
  const { samples, evaluators } = await readClientResults(reader, run);
  const dimensions = {
    ...(await reportDimensions(samples)),
    trajectory: namedTrajectories(samples.trajectories),
  };
  const reports: RunReport["evaluators"] = [];
  const failures: Record<string, number> = {};
  for (const evaluator of evaluators) {
    const outcomes = evaluator.outcomes();
    const { strata, ...report } = await reportOutcomes(dimensions, samples, outcomes);
    const shown = <Figures extends RunFigures>(figures: Figures) =>
      evaluator.hasPasses ? figures : { ...figures, ...withoutPasses };
    reports.push({
      ...evaluator.names,
      ...shown(report),
      baseline: null,
      strata: {
        step: strata.step.map(shown),
        trajectory: strata.trajectory.map(shown),
        // The states were never compared in a client run.
        changed: [],
        changes: [],
        verb: [],
        tag: strata.tag.map(shown),
      },
    });
    for (const [why, count] of Object.entries(outcomes.failures))
      failures[why] = (failures[why] ?? 0) + count;
  }
  return { evaluators: reports, failures };
}

const withoutPasses = {
  pass_rate: null,
  pass_standard_error: null,
  pass_interval: null,
  pass_lower_if_missing: null,
  pass_rate_failures_as_zero: null,
};

/** Clusters without a name are separate samples. */
function namedTrajectories({ texts, of }: Pick<Dimension, "of"> & { texts: readonly string[] }): Dimension {
  return { keys: texts, of: of.map((number) => (texts[number] === "" ? -1 : number)) };
}

/** A report without the run itself. */
export type RunFindings = Omit<RunReport, "run">;

/** For the arrays by sample and by repeat, for ends, and for everything small. */
const bytesPerSample = 180;
const bytesPerRepeat = 10;
const bytesOfEnds = 200;
const bytesOfReport = 4_000_000;

/** The memory that making a report takes. */
export function reportMemoryBytes(run: Pick<Run, "counts" | "repeats" | "target" | "provenance">): number {
  const { repeats, provenance } = run;
  const samples = samplesOfRevision(run);
  const perRepeat = bytesPerRepeat + (provenance.ends === undefined ? 0 : bytesOfEnds);
  const own = bytesOfReport + samples * (bytesPerSample + repeats * perRepeat);
  // It may be compared with a run of its records, and with the previous run.
  return own + (isClientRun(run) ? 0 : comparisonMemoryBytes([run, run]));
}

/**
 * A report from a run's own rows, as far as they exist. Evaluators are read one after the other, so that the memory does not depend
 * on their number.
 */
export async function reportRun(
  { store }: { store: Store },
  requester: Requester,
  run: Run,
  prices: Prices | undefined,
): Promise<RunFindings> {
  const reader = store.reader(requester);
  const goalOf = async (evaluators: RunReport["evaluators"]) => {
    const goals = await selectGoalsOf(store.briefReader(requester), run.account_id, [run]);
    const goal = goals.get(run.name);
    return goal === undefined ? null : judgeGoal(goal, evaluators, run.provenance, isPreliminary(run));
  };
  if (isClientRun(run)) {
    const findings = await clientFindings(reader, run);
    const goal = await goalOf(findings.evaluators);
    return { ...findings, evaluators: await withCorrected(reader, run, findings.evaluators), goal };
  }
  const samples = await readRunSamples(reader, run);
  const predictions = await totalPredictions(reader, run, samples.count);
  const dimensions = await reportDimensions(samples);
  const baselines = await readBaselines(reader, run.account_id, [run]);
  const evaluators: RunReport["evaluators"] = [];
  const survival: NonNullable<RunReport["survival"]> = [];
  const evaluations: Record<string, number> = {};
  for (const [evaluatorIndex, evaluator] of run.evaluators.entries()) {
    const outcomes = await readOutcomes(reader, run, evaluatorIndex, predictions.failed);
    const names = toEvaluatorNames(evaluator);
    const judged = { ...names, ...(await reportOutcomes(dimensions, samples, outcomes)) };
    evaluators.push({ ...judged, baseline: findBaseline(run, judged, baselines) });
    if (run.mode === "free-running")
      survival.push({ ...names, ...(await reportSurvival(samples, outcomes)) });
    for (const [status, count] of Object.entries(outcomes.failures)) {
      evaluations[status] = (evaluations[status] ?? 0) + count;
    }
  }
  const beside =
    run.mode === "free-running"
      ? { survival, teacher_forced: await reportTeacherForced(reader, run, samples) }
      : {};
  const ofEnds = await reportEnds(reader, run, samples);
  const ofWorld = await reportWorld(reader, run, samples.count);
  const against = await reportAgainstRecords({ store }, requester, run);
  const previous = await findPrevious({ store }, requester, run);
  const goal = await goalOf(evaluators);
  const corrected = await withCorrected(reader, run, evaluators);
  await refuseDeleted({ store }, requester, [run]);
  return {
    preliminary: isPreliminary(run),
    evaluators: corrected,
    ...ofEnds,
    ...beside,
    ...ofWorld,
    ...against,
    goal,
    previous,
    latency_ms: predictions.latencyMs,
    predictions_per_second: predictionsPerSecond(run, predictions),
    tokens: predictions.tokens,
    cost: runCost(run, predictions.tokensByModel, prices),
    failures: { predictions: predictions.failures, evaluations },
    provenance: {
      ...run.provenance,
      statistics: 2,
      warnings: [
        ...(run.provenance.draw ? [describeDraw(run.provenance.draw)] : []),
        ...answerWarnings(run, predictions),
        ...worldWarnings(run, ofWorld),
        ...warningsOf(run),
      ],
    },
  };
}

/** A larger share is worth a warning. */
const shareOfFaultyAnswers = 0.01;

/** Warnings about faulty answers, which the figures include as they are. */
function answerWarnings({ params, counts }: Run, { answers, truncated }: PredictionTotals): string[] {
  const limit = params?.max_tokens ?? params?.max_completion_tokens ?? samplingDefaults.max_tokens;
  const say = (count: number, what: string) =>
    count > answers * shareOfFaultyAnswers
      ? [`${Math.round((100 * count) / answers)} % of the answers ${what}`]
      : [];
  return [
    ...say(truncated, `were cut at ${limit} tokens (${truncated} of ${answers}): raise max_tokens.`),
    ...say(counts.empty ?? 0, `are empty (${counts.empty} of ${answers}).`),
  ];
}

/** A client run's predictions are unknown. */
async function clientFindings(reader: Database, run: Run): Promise<Omit<RunFindings, "goal">> {
  const { evaluators, failures } = await reportClientResults(reader, run);
  return {
    preliminary: false,
    evaluators,
    previous: null,
    latency_ms: null,
    predictions_per_second: null,
    tokens: { prompt: 0, cached: 0, completion: 0 },
    cost: null,
    failures: { predictions: {}, evaluations: failures },
    provenance: { ...run.provenance, statistics: 2, warnings: [] },
  };
}

async function reportTeacherForced(
  reader: Database,
  run: Run,
  samples: RunSamples,
): Promise<TeacherForced | null> {
  const found = await findTeacherForced(reader, run);
  if (found === undefined) return null;
  const failed = await readFailedPredictions(reader, found, samples.count);
  const step = byStep(samples);
  const evaluators: TeacherForced["evaluators"] = [];
  for (const [evaluatorIndex, evaluator] of found.evaluators.entries()) {
    if (!run.evaluators.some((own) => isSameEvaluator(own, evaluator))) continue;
    const outcomes = await readOutcomes(reader, found, evaluatorIndex, failed);
    evaluators.push({
      ...toEvaluatorNames(evaluator),
      ...(await overallFigures(samples, outcomes)),
      step: await strataOf(step.dimension, samples, outcomes),
    });
  }
  // If the run was deleted meanwhile, rows may have been missing when they were read.
  if ((await selectRun(reader, run.account_id, found.id)) === undefined) return null;
  return { run_id: found.id, name: found.name, evaluators };
}

/** Up to the last prediction: evaluators that are added later take additional time. */
function predictionsPerSecond(run: Run, { asked, lastAt }: PredictionTotals): number | null {
  const { started_at: startedAt } = run;
  if (!asksDeployment(run) || startedAt === null || lastAt === undefined) return null;
  return lastAt > startedAt ? (asked / (lastAt - startedAt)) * microsPerSecond : null;
}

function warningsOf(run: Run): string[] {
  const { models, in_sample: isInSample, leaky: isLeaky } = run.provenance;
  const warnings: string[] = [];
  if (models.length > 1) {
    warnings.push(`The model changed while the run was running: ${models.join(", ")}.`);
  }
  if (isInSample) warnings.push("The baseline learnt from the revision that it predicts.");
  if (isLeaky)
    warnings.push("Leaky: the world was calibrated on samples of this dataset. The run passes no gate.");
  if (isPreliminary(run)) warnings.push(preliminaryNote);
  else if (run.status !== "finished") warnings.push(`The run is ${run.status}: the figures are of a part.`);
  return warnings;
}
