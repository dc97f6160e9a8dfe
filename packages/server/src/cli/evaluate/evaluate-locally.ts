import { type EvaluateServices, evaluate } from "../../evaluation/evaluate/evaluate.ts";
import {
  InvalidEvaluatorsError,
  type WantedEvaluator,
} from "../../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../../evaluation/results/record/evaluation-record.ts";
import { CommandError } from "../command-error.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Evaluates in this process and stores the results in the configured database. */
export function evaluateLocally(
  services: EvaluateServices,
  accountId: string,
  evaluators: readonly WantedEvaluator[],
  metadata: ResultMetadata,
): EvaluateSample {
  const neverAborted = new AbortController().signal;
  return async ({ sample, datasetSampleId, idempotencyKey }) => {
    const request = {
      accountId,
      sample,
      evaluators,
      metadata: { ...metadata, datasetSampleId },
      capture: "all",
      hasConfidenceInterval: false,
      idempotencyKey,
    } as const;
    const evaluations = await evaluate(services, request, neverAborted).catch((error: unknown) => {
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

function describe({ issues }: InvalidEvaluatorsError, evaluators: readonly WantedEvaluator[]): string {
  return issues
    .map(({ index, message }) => {
      const { evaluator, profileName } = evaluators[index] ?? {};
      const option = profileName === undefined ? evaluator : `${evaluator}=${profileName}`;
      return `--evaluator ${option}: ${message ?? "name a profile, as FAMILY=PROFILE"}`;
    })
    .join("\n");
}
