import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";

export interface FamilyWithProfiles {
  family: EvaluatorFamily;
  /** The account's own first, then built-in ones. */
  profiles: EvaluatorProfile[];
}

/** Searches families and profiles. A matching family is returned with all its profiles, others with the matching ones. */
export function findFamilies(
  families: readonly EvaluatorFamily[],
  profiles: readonly EvaluatorProfile[],
  words: string,
): FamilyWithProfiles[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (...texts: (string | null)[]) => {
    const text = texts.join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return families.flatMap((family) => {
    const own = profiles
      .filter(({ evaluator_family }) => evaluator_family === family.family_name)
      .sort((one, other) => Number(one.is_managed) - Number(other.is_managed));
    if (fits(family.family_name, family.description)) return [{ family, profiles: own }];
    const found = own.filter((profile) =>
      fits(family.family_name, family.description, profile.name, profile.description),
    );
    return found.length === 0 ? [] : [{ family, profiles: found }];
  });
}
