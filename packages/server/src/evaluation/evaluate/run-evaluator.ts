import type { ExplainStrategy } from "@presage/contract";
import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { isStoreUnavailable } from "../../storage/store-failure.ts";
import {
  EvaluationFailure,
  type Family,
  type ModelCall,
  type ModelFamily,
  UnusableSampleError,
  type Verdict,
} from "../evaluators/family.ts";
import { createConfigReader } from "../evaluators/read-config.ts";
import type { Finding } from "../results/record/evaluation-record.ts";
import type { PlaceAllowance, RuleRunner } from "../rules/run-rule.ts";
import { isExplained } from "./is-explained.ts";
import type { UsableProfile } from "./resolve-evaluators.ts";
import { missingFields, type Sample, sampleFieldNames } from "./sample.ts";

export interface EvaluatorRun {
  family: Family;
  profile: UsableProfile;
  sample: Sample;
  accountId: string;
  explainStrategy: ExplainStrategy;
  /** Of the whole request. */
  allowance: RequestAllowance;
}

/** What the evaluators of one request share. */
export interface RequestAllowance extends PlaceAllowance {
  /** Says whether a model may be asked once more after a failure, and counts it. */
  mayRetry(): boolean;
}

/** Runs one evaluator. Whatever goes wrong in it is its finding; only a caller's hang-up, and that the store fails or is too busy, are thrown. */
export type RunEvaluator = (run: EvaluatorRun, callerGone: AbortSignal) => Promise<Finding>;

export interface EvaluatorRunnerParts {
  rules: RuleRunner;
  /** Deadline of an evaluation that asks a model, in milliseconds. */
  modelTimeoutMs: number;
  /** Hears of faults that are ours. */
  onFault(error: unknown): void;
}

export function createEvaluatorRunner({
  rules,
  modelTimeoutMs,
  onFault,
}: EvaluatorRunnerParts): RunEvaluator {
  const readConfig = createConfigReader();

  return async (run, callerGone) => withStorableTexts(await find(run, callerGone));

  async function find(
    { family, profile, sample, accountId, explainStrategy, allowance }: EvaluatorRun,
    callerGone: AbortSignal,
  ): Promise<Finding> {
    try {
      const config = readConfig(family, profile);
      const needs = [...family.needs, ...(family.needsWith?.(config) ?? [])];
      const missing = missingFields(sample, needs).map((field) => sampleFieldNames[field]);
      if (missing.length > 0) {
        return unusable("missing_input", `${family.name} needs ${missing.join(" and ")}.`);
      }
      if (family.kind === "rule") {
        return {
          status: "success",
          ...(await rules.run(
            { familyName: family.name, config, sample, explainStrategy },
            accountId,
            callerGone,
            allowance,
          )),
        };
      }
      const { mayRetry } = allowance;
      const call = { config, accountId, profilePublicId: profile.publicId, mayRetry };
      return await runModel(family, sample, call, explainStrategy, callerGone);
    } catch (error) {
      if (callerGone.aborted) throw new ClientDisconnectedError();
      // The request fails, not the evaluation: a store that is out of order or has too much to do says nothing of a text.
      if (error instanceof ServiceError || isStoreUnavailable(error)) throw error;
      return toFinding(error);
    }
  }

  async function runModel(
    family: ModelFamily<unknown>,
    sample: Sample,
    call: Omit<ModelCall<unknown>, "signal">,
    explainStrategy: ExplainStrategy,
    callerGone: AbortSignal,
  ): Promise<Finding> {
    const startedAtMs = performance.now();
    const deadline = AbortSignal.timeout(modelTimeoutMs);
    const timeout = new EvaluationFailure("timeout", `No verdict within ${modelTimeoutMs} ms.`);
    const signal = AbortSignal.any([callerGone, deadline]);
    const verdict = await family.evaluate(sample, { ...call, signal }).catch((error: unknown) => {
      // What the family says of it is more than that the time was up.
      throw deadline.aborted && !(error instanceof EvaluationFailure) ? timeout : error;
    });
    const evaluationMicros = Math.round((performance.now() - startedAtMs) * 1000);
    return {
      status: "success",
      ...withoutExplain(verdict),
      evaluationMicros,
      // The model explains in the same breath.
      ...(isExplained(explainStrategy, verdict.pass)
        ? { explanation: verdict.explain(), explanationMicros: 0 }
        : {}),
    };
  }

  function toFinding(error: unknown): Finding {
    if (error instanceof UnusableSampleError) return unusable("unusable_input", error.message);
    if (error instanceof EvaluationFailure) {
      if (error.code === "internal_error") onFault(error);
      return failed(error.code, error.message);
    }
    onFault(error);
    return failed("internal_error", "Internal error in the evaluator.");
  }
}

function unusable(code: string, message: string): Finding {
  return { status: "validation_error", errorMessage: `${code}: ${message}` };
}

function failed(code: string, message: string): Finding {
  return { status: "failed", errorMessage: `${code}: ${message}` };
}

/** Models write what they like, and what was cut may end in half of a surrogate pair; no store takes that, nor a NUL. */
function withStorableTexts({ errorMessage, explanation, ...rest }: Finding): Finding {
  return {
    ...rest,
    ...(errorMessage === undefined ? {} : { errorMessage: toStorable(errorMessage) }),
    ...(explanation === undefined ? {} : { explanation: toStorable(explanation) }),
  };
}

function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function withoutExplain({ explain: _, ...rest }: Verdict): Omit<Verdict, "explain"> {
  return rest;
}
