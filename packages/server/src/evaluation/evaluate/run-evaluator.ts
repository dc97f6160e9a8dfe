import type { ExplainStrategy } from "@presage/contract";
import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { withDeadline } from "../../limits/deadline.ts";
import { isStoreUnavailable } from "../../storage/store-error.ts";
import { EvaluationError, internalError, outcomeOfError, unusable } from "../evaluation-error.ts";
import { type EvaluatorOutcome, isExplained } from "../evaluator-outcome.ts";
import type { Family, ModelCall, ModelFamily } from "../evaluators/family.ts";
import type { UsableProfile } from "../profiles/find-profile.ts";
import type { MainThreadAllowance, RuleRunner } from "../rules/run-rule.ts";
import { missingFields, type Sample, sampleFieldNames } from "../sample.ts";
import { createConfigReader } from "./read-config.ts";

export interface EvaluatorTask {
  family: Family;
  profile: UsableProfile;
  sample: Sample;
  accountId: string;
  explainStrategy: ExplainStrategy;
  allowance: RequestAllowance;
}

/** What the evaluators of one request share. */
export interface RequestAllowance extends MainThreadAllowance {
  /** Says whether a model may be asked again after a failure, and counts it. */
  mayRetry(): boolean;
}

/**
 * Runs one evaluator. An error in it becomes its outcome; only a `ClientDisconnectedError`, a store that is unavailable and a
 * server that is overloaded are thrown.
 */
export type RunEvaluator = (task: EvaluatorTask, clientSignal: AbortSignal) => Promise<EvaluatorOutcome>;

export interface EvaluatorRunnerOptions {
  rules: RuleRunner;
  /** Deadline of an evaluation that asks a model, in milliseconds. */
  modelTimeoutMs: number;
  /** Called for bugs: errors that no evaluator throws on purpose. */
  onUnexpectedError(error: unknown): void;
}

export function createEvaluatorRunner({
  rules,
  modelTimeoutMs,
  onUnexpectedError,
}: EvaluatorRunnerOptions): RunEvaluator {
  const readConfig = createConfigReader();

  return async (task, clientSignal) => {
    try {
      return withStorableTexts(await run(task, clientSignal));
    } catch (error) {
      if (clientSignal.aborted) throw new ClientDisconnectedError();
      // These fail the request, not the evaluation: they say nothing about the sample.
      if (error instanceof ServiceError || isStoreUnavailable(error)) throw error;
      return withStorableTexts(toOutcome(error));
    }
  };

  async function run(
    { family, profile, sample, accountId, explainStrategy, allowance }: EvaluatorTask,
    clientSignal: AbortSignal,
  ): Promise<EvaluatorOutcome> {
    const config = readConfig(family, profile);
    const needs = [...family.needs, ...(family.needsWith?.(config) ?? [])];
    const missing = missingFields(sample, needs).map((field) => sampleFieldNames[field]);
    if (missing.length > 0)
      return unusable("missing_input", `${family.name} needs ${missing.join(" and ")}.`);
    if (family.kind === "rule") {
      const task = { familyName: family.name, config, sample, explainStrategy };
      return await rules.run(task, accountId, clientSignal, allowance);
    }
    const call = { config, accountId, profilePublicId: profile.publicId, mayRetry: allowance.mayRetry };
    return await runModel(family, sample, call, explainStrategy, clientSignal);
  }

  async function runModel(
    family: ModelFamily,
    sample: Sample,
    call: Omit<ModelCall, "signal">,
    explainStrategy: ExplainStrategy,
    clientSignal: AbortSignal,
  ): Promise<EvaluatorOutcome> {
    const startedAtMs = performance.now();
    const limits = { timeoutMs: modelTimeoutMs, timeoutError, signal: clientSignal };
    const { explain, ...verdict } = await withDeadline(limits, (signal) =>
      family.evaluate(sample, { ...call, signal }).catch((error: unknown) => {
        // The family's own error says more than that the time was up.
        throw signal.aborted && !(error instanceof EvaluationError) ? signal.reason : error;
      }),
    );
    const evaluationMicros = Math.round((performance.now() - startedAtMs) * 1000);
    const outcome = { status: "success" as const, ...verdict, evaluationMicros };
    // The model explains in the same completion.
    return isExplained(explainStrategy, verdict.pass)
      ? { ...outcome, explanation: explain(), explanationMicros: 0 }
      : outcome;
  }

  function toOutcome(error: unknown): EvaluatorOutcome {
    const outcome = outcomeOfError(error);
    if (outcome === undefined) return toOutcome(internalError(error));
    if (error instanceof EvaluationError && error.code === "internal_error") onUnexpectedError(error);
    return outcome;
  }
}

function timeoutError(timeoutMs: number): EvaluationError {
  return new EvaluationError("timeout", `No verdict within ${timeoutMs} ms.`);
}

/** Models write anything, and a text that was cut may end in half of a surrogate pair; no store accepts that, nor a NUL. */
function withStorableTexts(outcome: EvaluatorOutcome): EvaluatorOutcome {
  const { errorMessage, explanation } = outcome;
  if (errorMessage === undefined && explanation === undefined) return outcome;
  return { ...outcome, errorMessage: toStorable(errorMessage), explanation: toStorable(explanation) };
}

function toStorable(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll("\0", "\ufffd");
}
