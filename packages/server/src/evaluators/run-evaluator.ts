import type { ExplainStrategy } from "@presage/contract";
import { LRUCache } from "lru-cache";
import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import { withDeadline } from "../platform/limits/deadline.ts";
import type { EvaluatedSpan, EvaluationSpan } from "../platform/observability/tracing.ts";
import { toStorableText } from "../platform/storage/columns.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { Family, ModelCall, ModelFamily } from "./family.ts";
import {
  EvaluationError,
  type EvaluatorOutcome,
  internalError,
  isExplained,
  missingFields,
  outcomeOfError,
  type Sample,
  sampleFieldNames,
  timeoutError,
  unusable,
} from "./outcome.ts";
import type { UsableProfile } from "./profiles/profiles.ts";
import type { MainThreadAllowance, RuleRunner } from "./rules/run-rule.ts";

export interface EvaluatorTask {
  family: Family;
  profile: UsableProfile;
  sample: Sample;
  accountId: string;
  explainStrategy: ExplainStrategy;
  allowance: RequestAllowance;
  /** Whether a judge is shown the gold answer even if its profile does not need it. */
  showsGold?: boolean;
}

/** What the evaluators of one request share. */
export interface RequestAllowance extends MainThreadAllowance {
  /** Says whether a model may be asked again after a failure, and counts it. */
  mayRetry(): boolean;
  keyId?: string | undefined;
  span?: EvaluatedSpan | undefined;
}

export type RunEvaluator = ReturnType<typeof createEvaluatorRunner>;

export interface EvaluatorRunnerOptions {
  rules: RuleRunner;
  /** Deadline of an evaluation that asks a model, in milliseconds. */
  modelTimeoutMs: number;
  /** Called for bugs: errors that no evaluator throws on purpose. */
  onUnexpectedError(error: unknown): void;
}

/**
 * Returns a function that runs one evaluator. An error in it becomes its outcome; only a `ClientDisconnectedError`, a store that is
 * unavailable and a server that is overloaded are thrown.
 */
export function createEvaluatorRunner({ rules, modelTimeoutMs, onUnexpectedError }: EvaluatorRunnerOptions) {
  const readConfig = createConfigReader();

  return async (task: EvaluatorTask, clientSignal: AbortSignal): Promise<EvaluatorOutcome> => {
    const { family, profile, allowance } = task;
    const span = allowance.span?.startEvaluation({ family: family.name, profile: profile.name });
    const outcome = runSafely(task, clientSignal, span);
    span?.endAfter(outcome);
    return await outcome;
  };

  async function runSafely(task: EvaluatorTask, clientSignal: AbortSignal, span: EvaluationSpan | undefined) {
    try {
      return withStorableTexts(await run(task, clientSignal, span));
    } catch (error) {
      if (clientSignal.aborted) throw new ClientDisconnectedError();
      // These errors fail the request, not the evaluation: they say nothing about the sample.
      if (error instanceof ServiceError || isStoreUnavailable(error)) throw error;
      return withStorableTexts(toOutcome(error));
    }
  }

  async function run(
    { family, profile, sample, accountId, explainStrategy, allowance, showsGold }: EvaluatorTask,
    clientSignal: AbortSignal,
    span: EvaluationSpan | undefined,
  ): Promise<EvaluatorOutcome> {
    const config = readConfig(family, profile);
    const needs = [...family.needs, ...(family.needsWith?.(config) ?? [])];
    const missing = missingFields(sample, needs).map((field) => sampleFieldNames[field]);
    if (missing.length > 0) {
      const verb = missing.length === 1 ? "is" : "are";
      return unusable("missing_input", `${missing.join(" and ")} ${verb} missing.`);
    }
    if (family.kind === "rule") {
      const task = { familyName: family.name, config, sample, explainStrategy };
      return await rules.run(task, accountId, clientSignal, allowance);
    }
    const { mayRetry, keyId } = allowance;
    const call = { config, accountId, profilePublicId: profile.publicId, mayRetry, keyId, span, showsGold };
    return await runModel(family, sample, call, explainStrategy, { timeoutMs: modelTimeoutMs, clientSignal });
  }

  function toOutcome(error: unknown): EvaluatorOutcome {
    const outcome = outcomeOfError(error);
    if (outcome === undefined) return toOutcome(internalError(error));
    if (error instanceof EvaluationError && error.code === "internal_error") onUnexpectedError(error);
    return outcome;
  }
}

async function runModel(
  family: ModelFamily,
  sample: Sample,
  call: Omit<ModelCall, "signal">,
  explainStrategy: ExplainStrategy,
  { timeoutMs, clientSignal }: { timeoutMs: number; clientSignal: AbortSignal },
): Promise<EvaluatorOutcome> {
  const startedAtMs = performance.now();
  const limits = { timeoutMs, timeoutError, signal: clientSignal };
  const { explain, ...verdict } = await withDeadline(limits, (signal) =>
    family.evaluate(sample, { ...call, signal }).catch((error: unknown) => {
      // The family's own error says more than the deadline's.
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

/** Models may write anything, and a text that was cut may end in half a surrogate pair. No store accepts that, or a NUL. */
function withStorableTexts(outcome: EvaluatorOutcome): EvaluatorOutcome {
  const { errorMessage, explanation } = outcome;
  if (errorMessage === undefined && explanation === undefined) return outcome;
  return { ...outcome, errorMessage: toStorable(errorMessage), explanation: toStorable(explanation) };
}

function toStorable(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toStorableText(text);
}

const maxConfigs = 500;
const maxConfigCharacters = 4_000_000;

/**
 * Returns a function that returns a profile's config as parsed by its family's schema, or throws an `EvaluationError`. Configs are cached:
 * a revision never changes, and checking its config, for example a JSON Schema, can take a tenth of a second.
 */
export function createConfigReader() {
  const checked = new LRUCache<string, { config: unknown }>({
    max: maxConfigs,
    maxSize: maxConfigCharacters,
    sizeCalculation: ({ config }) => JSON.stringify(config).length,
  });
  return (family: Family, { publicId, revision, config: given }: UsableProfile): unknown => {
    const key = `${publicId}/${revision}`;
    const known = checked.get(key);
    if (known !== undefined) return known.config;
    const { success, data: config } = family.config.safeParse(given);
    if (!success) {
      throw new EvaluationError("invalid_profile", "The profile's config is no longer valid for its family.");
    }
    checked.set(key, { config });
    return config;
  };
}
