import type { RunReport, TeacherForced } from "@presage/contract";
import { preliminaryNote } from "@presage/contract/describe-comparison";
import { samplingDefaults } from "@presage/contract/sampling-defaults";
import type { Prices } from "../../platform/cost-of.ts";
import { microsPerSecond } from "../../platform/storage/micros.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { refuseDeleted } from "../find-run.ts";
import { isExternal, isPreliminary, isSameEvaluator, type Run, toEvaluatorNames } from "../run.ts";
import { selectRun } from "../runs-store.ts";
import { findTeacherForced } from "./find-teacher-forced.ts";
import { type PredictionTotals, totalPredictions } from "./prediction-totals.ts";
import { readFailedPredictions, readOutcomes } from "./read-outcomes.ts";
import { reportExternal } from "./report-external.ts";
import { overallFigures, reportDimensions, reportOutcomes, strataOf } from "./report-strata.ts";
import { reportSurvival } from "./report-survival.ts";
import { runCost } from "./run-cost.ts";
import { type RunSamples, readRunSamples } from "./run-samples.ts";
import { byStep } from "./strata.ts";

/** A report without the run itself. */
export type RunFindings = Omit<RunReport, "run">;

/** Of the arrays by sample, and by repeat; and of what is small. */
const bytesPerSample = 180;
const bytesPerRepeat = 10;
const bytesOfReport = 4_000_000;

/** The memory that a report takes while it is made. */
export function reportMemoryBytes({ counts, repeats }: Pick<Run, "counts" | "repeats">): number {
  return bytesOfReport + (counts.samples / repeats) * bytesPerSample + counts.samples * bytesPerRepeat;
}

/**
 * What a run says, from its own rows, of as much as there is. One evaluator is read after the other, so that the memory does not
 * depend on their number.
 */
export async function reportRun(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  run: Run,
  prices: Prices | undefined,
): Promise<RunFindings> {
  const reader = store.reader(requester);
  if (isExternal(run)) return await externalFindings(reader, run);
  const samples = await readRunSamples(reader, run.dataset?.revisionId ?? 0);
  const predictions = await totalPredictions(reader, run, samples.count);
  const dimensions = await reportDimensions(samples);
  const evaluators: RunReport["evaluators"] = [];
  const survival: NonNullable<RunReport["survival"]> = [];
  const evaluations: Record<string, number> = {};
  for (const [place, evaluator] of run.evaluators.entries()) {
    const outcomes = await readOutcomes(reader, run, place, predictions.failed);
    const names = toEvaluatorNames(evaluator);
    evaluators.push({ ...names, ...(await reportOutcomes(dimensions, samples, outcomes)) });
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
  await refuseDeleted({ store }, requester, [run]);
  return {
    preliminary: isPreliminary(run),
    evaluators,
    ...beside,
    latency_ms: predictions.latencyMs,
    predictions_per_second: predictionsPerSecond(run, predictions),
    tokens: predictions.tokens,
    cost: runCost(run, predictions, prices),
    failures: { predictions: predictions.failures, evaluations },
    provenance: {
      ...run.provenance,
      statistics: 2,
      warnings: [...answerWarnings(run, predictions), ...warningsOf(run)],
    },
  };
}

const shareToSay = 0.01;

/** First what is wrong with the answers, which the figures take as they are. */
function answerWarnings({ params = {}, counts }: Run, { answers, truncated }: PredictionTotals): string[] {
  const limit = params.max_tokens ?? params.max_completion_tokens ?? samplingDefaults.max_tokens;
  const say = (count: number, what: string) =>
    count > answers * shareToSay ? [`${Math.round((100 * count) / answers)} % of the answers ${what}`] : [];
  return [
    ...say(truncated, `were cut at ${limit} tokens (${truncated} of ${answers}): raise max_tokens.`),
    ...say(counts.empty ?? 0, `are empty (${counts.empty} of ${answers}).`),
  ];
}

/** Its predictions are not known. */
async function externalFindings(reader: Database, run: Run): Promise<RunFindings> {
  const { evaluators, failures } = await reportExternal(reader, run);
  return {
    preliminary: false,
    evaluators,
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
  for (const [place, evaluator] of found.evaluators.entries()) {
    if (!run.evaluators.some((own) => isSameEvaluator(own, evaluator))) continue;
    const outcomes = await readOutcomes(reader, found, place, failed);
    evaluators.push({
      ...toEvaluatorNames(evaluator),
      ...(await overallFigures(samples, outcomes)),
      step: await strataOf(step.dimension, samples, outcomes),
    });
  }
  // Deleted meanwhile, it may have lost rows before they were read.
  if ((await selectRun(reader, run.accountId, found.id)) === undefined) return null;
  return { run_id: found.id, name: found.name, evaluators };
}

/** Until the last prediction: evaluators that are added later take time of their own. */
function predictionsPerSecond(
  { target, startedAt }: Run,
  { asked, lastAt }: PredictionTotals,
): number | null {
  if (target.kind !== "deployment" || startedAt === undefined || lastAt === undefined) return null;
  return lastAt > startedAt ? (asked / (lastAt - startedAt)) * microsPerSecond : null;
}

function warningsOf(run: Run): string[] {
  const { models, in_sample: isInSample } = run.provenance;
  const warnings: string[] = [];
  if (models.length > 1) {
    warnings.push(`The model changed while the run was running: ${models.join(", ")}.`);
  }
  if (isInSample) warnings.push("The baseline learnt from the revision that it predicts.");
  if (isPreliminary(run)) warnings.push(preliminaryNote);
  else if (run.status !== "finished") warnings.push(`The run is ${run.status}: the figures are of a part.`);
  return warnings;
}
