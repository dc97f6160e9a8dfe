import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";

export interface FamilyWithProfiles {
  family: EvaluatorFamily;
  /** The account's own first, then those that come with Presage. */
  profiles: EvaluatorProfile[];
}

/** Families with their profiles. A family that fits the words comes with all of its profiles, another one with those that fit. */
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
