import { type ResolvedEvaluator, resolveEvaluators } from "../../evaluate/resolve-evaluators.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import type { Run } from "../run.ts";

/** The run's evaluators, each with its place in the run's list and the revision of its profile that the run began with. */
export async function resolveRunEvaluators(
  services: Pick<EvaluationServices, "store" | "registry">,
  { accountId, evaluators }: Pick<Run, "accountId" | "evaluators">,
): Promise<(ResolvedEvaluator & { index: number })[]> {
  const wanted = evaluators.map(({ id, profile, explainStrategy }) => ({
    evaluator: id,
    profileName: `${profile.name}:${profile.revision}`,
    explainStrategy,
  }));
  const resolved = await resolveEvaluators(services, accountId, wanted);
  return resolved.map((evaluator, index) => ({ ...evaluator, index }));
}
