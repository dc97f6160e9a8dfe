import type { EpisodeReward, ExplainStrategy, ValidationError } from "@presage/contract";
import { defaultProfileName } from "@presage/contract/defaults";
import { missing, valueError } from "../http/validate.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Family } from "./family.ts";
import type { NamedReference } from "./old-names.ts";
import {
  builtInPrefix,
  builtInProfileId,
  findBuiltInProfile,
  findUsableProfile,
  type UsableProfile,
} from "./profiles/profiles.ts";
import type { Registry } from "./registry.ts";

/** One evaluator of a request. */
export interface WantedEvaluator {
  /** An id, or an alias. */
  evaluator: string;
  /** The family's default if absent. */
  profileName?: string | undefined;
  explainStrategy: ExplainStrategy;
}

/** Why one of the wanted evaluators cannot be run. */
export interface EvaluatorIssue {
  /** Its place in the request. */
  index: number;
  field: "evaluator" | "profileName";
  /** Absent if the client left out a name that is required. */
  message: string | undefined;
}

/** A request that names evaluators or profiles that do not exist. None of its evaluators was run. */
export class InvalidEvaluatorsError extends Error {
  readonly issues: readonly EvaluatorIssue[];

  constructor(issues: readonly EvaluatorIssue[]) {
    super("The request names evaluators or profiles that cannot be used.");
    this.name = "InvalidEvaluatorsError";
    this.issues = issues;
  }
}

interface ResolveServices {
  store: Store;
  registry: Registry;
}

/** An evaluator and the profile to run it with. */
export interface ResolvedEvaluator {
  id: string;
  family: Family;
  profile: UsableProfile;
  explainStrategy: ExplainStrategy;
}

/** Finds what a client named, or throws an `InvalidEvaluatorsError` with everything that cannot be used. */
export async function resolveEvaluators(
  services: ResolveServices,
  accountId: string,
  wanted: readonly WantedEvaluator[],
): Promise<ResolvedEvaluator[]> {
  const found = await resolveEach(services, accountId, wanted);
  const issues = found.filter((one) => "index" in one);
  if (issues.length > 0) throw new InvalidEvaluatorsError(issues);
  return found.filter((one) => "profile" in one);
}

/** An evaluator that an account cannot run, and why. */
export async function findEvaluatorIssues(
  services: ResolveServices,
  accountId: string,
  wanted: readonly WantedEvaluator[],
): Promise<EvaluatorIssue[]> {
  return (await resolveEach(services, accountId, wanted)).filter((one) => "index" in one);
}

/** Why an account cannot use an evaluator that gives rewards, and the field at fault; undefined if it can. */
export async function findRewardIssue(
  services: ResolveServices,
  accountId: string,
  { evaluator, profile_name: profileName }: EpisodeReward,
): Promise<{ field: "evaluator" | "profile_name"; message: string } | undefined> {
  const wanted = { evaluator, profileName: profileName ?? undefined, explainStrategy: "never" as const };
  const [issue] = await findEvaluatorIssues(services, accountId, [wanted]);
  if (issue === undefined) return undefined;
  const field = issue.field === "evaluator" ? "evaluator" : "profile_name";
  return { field, message: issue.message ?? "The family has no default profile; name one" };
}

async function resolveEach(
  { store, registry }: ResolveServices,
  accountId: string,
  wanted: readonly WantedEvaluator[],
): Promise<(ResolvedEvaluator | EvaluatorIssue)[]> {
  return await Promise.all(
    wanted.map(async ({ evaluator, profileName, explainStrategy }, index) => {
      const found = registry.find(evaluator);
      if (found === undefined) {
        const names = registry.families.map(({ name }) => name).join(", ");
        return {
          index,
          field: "evaluator",
          message: `Unknown evaluator; available: ${names}`,
        };
      }
      const { id, family } = found;
      const name = profileName ?? defaultProfileName;
      const profile = name.startsWith(builtInPrefix)
        ? builtInProfile(family, name)
        : await findUsableProfile(store.database, accountId, family.name, name);
      if (profile !== undefined) return { id, family, profile, explainStrategy };
      const builtIn = family.builtInProfiles.map((one) => one.name).join(", ");
      const message = `The family ${family.name} has no profile of this name, or it is archived; the built-in ones are ${builtIn}`;
      return { index, field: "profileName", message: profileName === undefined ? undefined : message };
    }),
  );
}

/** A built-in profile. Each has one revision, which may be named after a colon. */
export function builtInProfile(family: Family, nameWithRevision: string): UsableProfile | undefined {
  const name = nameWithRevision.replace(/:1$/, "");
  const profile = findBuiltInProfile(family, name);
  if (profile === undefined) return undefined;
  return { publicId: builtInProfileId(family.name, name), name, revision: 1, config: profile.config };
}

/** Issues of evaluators, as issues of the fields that name them. */
export function toEvaluatorIssues(
  issues: readonly EvaluatorIssue[],
  references: readonly NamedReference[],
): ValidationError[] {
  return issues.flatMap(({ index, field, message }) => {
    const reference = references[index];
    if (reference === undefined) return [];
    const loc = reference.places[field];
    const input = reference[field];
    if (message === undefined || !input) return [missing(loc, reference.given)];
    return [valueError(loc, message, input)];
  });
}
