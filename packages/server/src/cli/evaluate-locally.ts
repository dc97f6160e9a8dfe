import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  type WantedEvaluator,
} from "../evaluators/resolve-evaluators.ts";
import { type EvaluateServices, evaluate } from "../results/evaluate.ts";
import { readResultMetadata } from "../results/result.ts";
import { CommandError } from "./command-error.ts";
import { commandLineActor } from "./command-line-actor.ts";
import type { EvaluateSample } from "./evaluate-line.ts";
import { optionOf } from "./wanted-evaluators.ts";

/** Evaluates in this process, by evaluators that it knows, and stores the results in the configured database. */
export async function evaluateLocally(
  services: EvaluateServices,
  accountId: string,
  evaluators: readonly WantedEvaluator[],
  hasModel: boolean,
): Promise<EvaluateSample> {
  await checkEvaluatorsLocally(services, accountId, evaluators, hasModel);
  const neverAborted = new AbortController().signal;
  return async ({ sample, metadata, idempotencyKey }) => {
    const request = {
      accountId,
      actor: commandLineActor(),
      sample,
      evaluators,
      metadata: readResultMetadata(metadata),
      capture: "all",
      hasConfidenceInterval: false,
      idempotencyKey,
    } as const;
    // A profile may be archived meanwhile.
    const evaluations = await evaluate(services, request, neverAborted).catch((error: unknown) => {
      throw namingOptions(error, evaluators);
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

/** Refuses evaluators that cannot be used. */
export async function checkEvaluatorsLocally(
  services: Pick<EvaluateServices, "store" | "registry">,
  accountId: string,
  evaluators: readonly WantedEvaluator[],
  hasModel: boolean,
): Promise<void> {
  const issues = await findEvaluatorIssues(services, accountId, evaluators);
  if (issues.length > 0) throw new CommandError(describe(issues, evaluators));
  const judge = evaluators.find(
    ({ evaluator }) => services.registry.find(evaluator)?.family.kind === "model",
  );
  if (judge === undefined || hasModel) return;
  throw new CommandError(`${optionOf(judge)}: needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL`);
}

/** An error of evaluators as one of the options that name them. */
export function namingOptions(error: unknown, evaluators: readonly WantedEvaluator[]): unknown {
  return error instanceof InvalidEvaluatorsError
    ? new CommandError(describe(error.issues, evaluators))
    : error;
}

function describe(issues: InvalidEvaluatorsError["issues"], evaluators: readonly WantedEvaluator[]): string {
  return issues
    .map(({ index, message }) => {
      const wanted = evaluators[index];
      const option = wanted === undefined ? "--evaluator" : optionOf(wanted);
      return `${option}: ${message ?? "name a profile, as FAMILY=PROFILE"}`;
    })
    .join("\n");
}
