import { InvalidEvaluatorsError, builtInProfile, type ResolvedEvaluator } from "../../evaluators/resolve-evaluators.ts";
import { builtInPrefix, findProfileRevisions } from "../../evaluators/profiles/find-profile.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import type { Run } from "../run.ts";

/**
 * The run's evaluators, each with its place in the run's list and the revision of its profile that the run began with. It is found by
 * its id, since the profile may have been archived, and another may have got a name like it.
 */
export async function resolveRunEvaluators(
  { store, registry }: Pick<EvaluationServices, "store" | "registry">,
  { accountId, evaluators }: Pick<Run, "accountId" | "evaluators">,
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
