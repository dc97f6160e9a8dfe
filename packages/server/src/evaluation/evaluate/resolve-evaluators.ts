import { defaultProfileName, type Family } from "../evaluators/family.ts";
import type { RegisteredEvaluator, Registry } from "../evaluators/registry.ts";
import { builtInPrefix, builtInProfileId, findBuiltInProfile } from "../profiles/built-in-profiles.ts";
import { InvalidEvaluatorsError, type Refusal, type WantedEvaluator } from "./evaluation-request.ts";

/** A profile as an evaluation uses it. Its config has yet to be read by the family's schema. */
export interface UsableProfile {
  publicId: string;
  name: string;
  revision: number;
  config: unknown;
}

/** The last revision of an account's profile, unless there is none or it is archived. */
export type FindProfile = (
  accountId: string,
  family: string,
  name: string,
) => Promise<UsableProfile | undefined>;

/** An evaluator and the profile to run it with. */
export interface ResolvedEvaluator {
  id: string;
  family: Family;
  profile: UsableProfile;
  wanted: WantedEvaluator;
}

/** Finds what a caller named, or throws `InvalidEvaluatorsError` with everything that cannot be used. */
export async function resolveEvaluators(
  registry: Registry,
  findProfile: FindProfile,
  accountId: string,
  evaluators: readonly WantedEvaluator[],
): Promise<ResolvedEvaluator[]> {
  const found = await Promise.all(evaluators.map((wanted, index) => resolve(wanted, index)));
  const refusals = found.filter((one) => "index" in one);
  if (refusals.length > 0) throw new InvalidEvaluatorsError(refusals);
  return found.filter((one) => "profile" in one);

  async function resolve(wanted: WantedEvaluator, index: number): Promise<ResolvedEvaluator | Refusal> {
    const evaluator = registry.find(wanted.evaluator);
    if (evaluator === undefined) {
      const names = registry.families.map(({ name }) => name).join(", ");
      return { index, field: "evaluator", message: `There is no such evaluator; there are ${names}` };
    }
    const { family } = evaluator;
    const name = wanted.profileName ?? defaultProfileName;
    const profile = await profileOf(evaluator, name);
    if (profile !== undefined) return { id: evaluator.id, family, profile, wanted };
    const own = family.builtInProfiles.map((one) => one.name).join(", ");
    const message = `The family ${family.name} has no profile of this name, or it is archived; Presage's own are ${own}`;
    return { index, field: "profileName", message: wanted.profileName === undefined ? undefined : message };
  }

  async function profileOf(
    { family }: RegisteredEvaluator,
    name: string,
  ): Promise<UsableProfile | undefined> {
    if (!name.startsWith(builtInPrefix)) return await findProfile(accountId, family.name, name);
    const profile = findBuiltInProfile(family, name);
    if (profile === undefined) return undefined;
    return { publicId: builtInProfileId(family.name, name), name, revision: 1, config: profile.config };
  }
}
