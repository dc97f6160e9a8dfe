import { setTimeout as sleep } from "node:timers/promises";
import { defaultProfileName } from "@presage/contract/defaults";
import { type EvaluatorOutcome, errorCodeOf, type Sample } from "../../evaluators/outcome.ts";
import { builtInPrefix, builtInProfileId, findProfileRevisions } from "../../evaluators/profiles/profiles.ts";
import type { Registry } from "../../evaluators/registry.ts";
import {
  builtInProfile,
  InvalidEvaluatorsError,
  type ResolvedEvaluator,
} from "../../evaluators/resolve-evaluators.ts";
import type { RequestAllowance, RunEvaluator } from "../../evaluators/run-evaluator.ts";
import { digestOf } from "../../http/request.ts";
import { ServiceError } from "../../platform/errors.ts";
import { createRetryBudget } from "../../platform/limits/deadline.ts";
import type { StepSpan } from "../../platform/observability/tracing.ts";
import { toFlag, toStorableText, trajectoryTag, verbOf } from "../../platform/storage/columns.ts";
import type { RunVerdictsTable, SampleTraitsTable } from "../../platform/storage/schema/runs.ts";
import type { Store } from "../../platform/storage/store.ts";
import type { EvaluationRecord } from "../../results/result.ts";
import type { ResultWriter } from "../../results/write/result-writer.ts";
import { payerOf, type Run, type RunDataset } from "../run.ts";
import { actionOf, type Step, stateOf, toEvaluated } from "./steps.ts";

/** The services for evaluating a step. */
export interface StepServices {
  store: Store;
  registry: Registry;
  runEvaluator: RunEvaluator;
  resultWriter: ResultWriter;
}

type EvaluatedRun = Pick<
  Run,
  "id" | "account_id" | "api_key_id" | "created_by" | "params" | "provenance" | "mode"
> & { dataset: RunDataset };

/** How long the rules of a step may block the main thread, in real time, which on a busy machine includes waiting for a core. */
const mainThreadMs = 10;
const overloadPauseMs = 500;
/** How long to retry an evaluation that finds no thread, or a judge whose rate is limited. A quota may last for days. */
const longestWaitMs = 5 * 60_000;
/** The app under which results of runs are stored. */
const app = "runs";

/** The verdicts of some of a run's evaluators on a step's prediction. */
interface JudgedStep {
  verdicts: RunVerdictsTable[];
  /** Undefined if none of them counts the recorded changes. */
  changes: number | undefined;
  /** How many of the verdicts are on an answer that had to be repaired. */
  repaired: number;
}

/** Has a step's prediction judged by some of the run's evaluators, and stores the results. */
export async function evaluateStep(
  services: StepServices,
  run: EvaluatedRun,
  evaluators: readonly (ResolvedEvaluator & { index: number })[],
  { position, repeat, sample }: Step,
  { output, model, span }: { output: string; model: string | null; span?: StepSpan | undefined },
  signal: AbortSignal,
): Promise<JudgedStep> {
  const evaluated = toEvaluated(sample, output);
  const unchanged = { ...evaluated, output: toStorableText(stateOf(sample)) };
  const untraced = { ...allowanceOfStep(), keyId: payerOf(run) };
  const allowance = { ...untraced, span };
  const found = await Promise.all(
    evaluators.map(async (evaluator) => ({
      evaluator,
      outcome: await evaluate(services, run, evaluator, evaluated, allowance, signal),
      ofUnchanged:
        // For every repeat, because the first one's prediction may have failed.
        evaluator.family.kind === "rule" && run.mode === "teacher-forced"
          ? await evaluate(
              services,
              run,
              { ...evaluator, explainStrategy: "never" },
              unchanged,
              untraced,
              signal,
            )
          : undefined,
    })),
  );
  // One object for all results, so that it crosses to the store's thread once.
  const metadata = {
    app,
    tags: { ...sample.tags, [trajectoryTag]: sample.trajectory_id },
    datasetId: run.dataset.datasetId,
    datasetSampleId: sample.dataset_sample_id,
    runId: run.id,
    evaluatedModel: model === null ? undefined : { name: model, params: run.params ?? undefined },
  };
  const records = found.map(
    ({ evaluator, outcome }): EvaluationRecord => ({
      accountId: run.account_id,
      evaluatorId: evaluator.id,
      evaluatorFamily: evaluator.family.name,
      profile: evaluator.profile,
      explainStrategy: evaluator.explainStrategy,
      isExternal: false,
      // If a process dies after this, the next one finds the stored result. A failure may be tried again.
      requestKey:
        outcome.status === "success" ? `run/${run.id}/${position}/${repeat}/${evaluator.index}` : undefined,
      sample: evaluated,
      metadata,
      outcome,
    }),
  );
  const results = await patiently(() => services.resultWriter.write(records), signal);
  const counting = found.find(({ evaluator }) => countsChanges(evaluator));
  const verdicts = found.map(({ evaluator, ofUnchanged }, index) => ({
    run_id: run.id,
    evaluator: evaluator.index,
    position,
    repeat,
    ...toVerdict(results[index], ofUnchanged),
  }));
  const repaired = found.filter(({ outcome }) => outcome.extra?.repaired === true).length;
  return { verdicts, changes: counting && changesIn(counting.outcome), repaired };
}

/** A stored result as a verdict, with the verdict on the unchanged state. */
function toVerdict(
  result: Awaited<ReturnType<ResultWriter["write"]>>[number] | undefined,
  ofUnchanged: EvaluatorOutcome | undefined,
): Omit<RunVerdictsTable, "run_id" | "evaluator" | "position" | "repeat"> {
  const outcome = result?.outcome;
  const isSuccess = outcome?.status === "success";
  return {
    status: outcome?.status ?? "failed",
    pass: isSuccess ? flagOf(outcome) : null,
    score: isSuccess ? (outcome.score ?? null) : null,
    unchanged_pass: flagOf(ofUnchanged),
    unchanged_score: ofUnchanged?.score ?? null,
    result_id: result?.id ?? null,
  };
}

/** Whether an evaluator counts changes in the same way as reports. */
function countsChanges({ family, profile }: Pick<ResolvedEvaluator, "family" | "profile">): boolean {
  return family.name === "state-change" && profile.name === defaultProfileName;
}

function changesIn({ extra }: EvaluatorOutcome): number | undefined {
  const changes = extra?.llm_sim_changes ?? extra?.changed;
  return typeof changes === "number" ? changes : undefined;
}

function flagOf(outcome: EvaluatorOutcome | undefined): RunVerdictsTable["pass"] {
  return outcome?.pass === undefined ? null : toFlag(outcome.pass);
}

function allowanceOfStep(): RequestAllowance {
  return { mainThreadMs, mayRetry: createRetryBudget() };
}

async function evaluate(
  { runEvaluator }: StepServices,
  { account_id: accountId }: Pick<Run, "account_id">,
  { family, profile, explainStrategy }: Pick<ResolvedEvaluator, "family" | "profile" | "explainStrategy">,
  sample: Sample,
  allowance: RequestAllowance,
  signal: AbortSignal,
): Promise<EvaluatorOutcome> {
  const task = { family, profile, sample, accountId, explainStrategy, allowance };
  const giveUpAtMs = performance.now() + longestWaitMs;
  for (;;) {
    const outcome = await patiently(() => runEvaluator(task, signal), signal);
    if (!isPassing(outcome) || performance.now() >= giveUpAtMs) return outcome;
    await sleep(overloadPauseMs * (1 + Math.random()), undefined, { signal });
  }
}

const passingFailures = ["overloaded", "judge_rate_limited"];

/** Whether the failure says nothing about the sample: no thread was free, or the judge's rate limit was reached. */
function isPassing(outcome: EvaluatorOutcome): boolean {
  return outcome.status === "failed" && passingFailures.includes(errorCodeOf(outcome) ?? "");
}

/** Runs are not urgent: this waits while the server is overloaded. */
async function patiently<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "overloaded") throw error;
      await sleep(overloadPauseMs, undefined, { signal });
    }
  }
}

/** The traits that reports group a sample by. `changes` is the number that an evaluator has counted. */
export async function readTraits(
  services: StepServices,
  run: EvaluatedRun,
  { position, sample }: Pick<Step, "position" | "sample">,
  signal: AbortSignal,
  changes?: number,
): Promise<SampleTraitsTable> {
  const known = run.provenance.change === undefined ? changes : undefined;
  const counted =
    known ?? (await countChanges(services, run, toEvaluated(sample, sample.next_state), signal));
  return {
    revision_id: run.dataset.revisionId,
    position,
    // The same for equal samples of any revision, because runs are compared by it.
    digest: digestOf(sample),
    changes: changesBySample(sample.tags?.changed, counted),
    verb: verbOf(actionOf(sample)),
    tags: sample.tags === undefined ? null : JSON.stringify(sample.tags),
  };
}

/** A sample's own tag takes precedence over the counted changes. */
function changesBySample(changed: string | undefined, counted: number | null): number | null {
  if (/^(true|yes|1)$/i.test(changed ?? "")) return Math.max(1, counted ?? 1);
  return /^(false|no|0)$/i.test(changed ?? "") ? 0 : counted;
}

/** The number of changes as `state-change` counts them, with the dataset's own definition of a change. */
async function countChanges(
  services: StepServices,
  run: EvaluatedRun,
  sample: Sample,
  signal: AbortSignal,
): Promise<number | null> {
  const found = services.registry.find("state-change");
  const { change } = run.provenance;
  if (found === undefined) return null;
  const { family } = found;
  // A dataset's `change` never changes, nor does a profile's revision.
  const publicId =
    change === undefined ? builtInProfileId(family.name, defaultProfileName) : run.dataset.datasetId;
  const profile = { publicId, name: defaultProfileName, revision: 1, config: { change } };
  const evaluator = { family, profile, explainStrategy: "never" as const };
  return changesIn(await evaluate(services, run, evaluator, sample, allowanceOfStep(), signal)) ?? null;
}

/**
 * The run's evaluators, each with its index in the run's list and the revision of its profile that the run began with. The profile is
 * found by its id, because it may have been archived and another may have taken its name.
 */
export async function resolveRunEvaluators(
  { store, registry }: { store: Store; registry: Registry },
  { account_id: accountId, evaluators }: Pick<Run, "account_id" | "evaluators">,
): Promise<(ResolvedEvaluator & { index: number })[]> {
  const named = evaluators.map(({ profile }) => profile);
  const own = await findProfileRevisions(
    store.database,
    accountId,
    named.filter(({ name }) => !name.startsWith(builtInPrefix)),
  );
  return evaluators.map(({ id, profile: { name, publicId, revision }, explainStrategy }, index) => {
    const found = registry.find(id);
    const profile = name.startsWith(builtInPrefix)
      ? found && builtInProfile(found.family, name)
      : own.find((one) => one.publicId === publicId && one.revision === revision);
    if (found === undefined || profile === undefined)
      throw new InvalidEvaluatorsError([
        { index, field: found === undefined ? "evaluator" : "profileName", message: undefined },
      ]);
    return { id: found.id, family: found.family, profile, explainStrategy, index };
  });
}
