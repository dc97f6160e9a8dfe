import type { Evaluate } from "../evaluation/evaluate/evaluate.ts";
import { InvalidEvaluatorsError, type WantedEvaluator } from "../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../evaluation/results/record/evaluation-record.ts";
import { CommandError } from "./command-error.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Evaluations by this process, kept in the configured database. */
export function evaluateLocally(
  evaluate: Evaluate,
  accountId: string,
  evaluators: readonly WantedEvaluator[],
  metadata: ResultMetadata,
): EvaluateSample {
  // Nobody hangs up on a command.
  const callerGone = new AbortController().signal;
  return async ({ sample, metadata: ofSample, idempotencyKey }) => {
    const order = {
      accountId,
      sample,
      evaluators,
      metadata: { ...metadata, ...ofSample },
      capture: "all",
      hasConfidenceInterval: false,
      idempotencyKey,
    } as const;
    const evaluations = await evaluate(order, callerGone).catch((error: unknown) => {
      throw error instanceof InvalidEvaluatorsError ? new CommandError(describe(error, evaluators)) : error;
    });
    return evaluations.map((evaluation) => ({
      evaluator_id: evaluation.evaluatorId,
      profile_name: evaluation.profile?.name ?? "",
      status: evaluation.outcome.status,
      error_message: evaluation.outcome.errorMessage ?? null,
      id: "id" in evaluation ? String(evaluation.id) : null,
      pass: evaluation.outcome.pass ?? null,
      score_raw: evaluation.outcome.score ?? null,
      explanation: evaluation.outcome.explanation ?? null,
    }));
  };
}

function describe({ refusals }: InvalidEvaluatorsError, evaluators: readonly WantedEvaluator[]): string {
  return refusals
    .map(({ index, message }) => {
      const wanted = evaluators[index];
      return `--evaluator ${wanted?.evaluator}${wanted?.profileName === undefined ? "" : `=${wanted.profileName}`}: ${message ?? "a profile must be named, as FAMILY=PROFILE"}`;
    })
    .join("\n");
}
