import { toMicros } from "../../storage/micros.ts";
import type { Family } from "../evaluators/family.ts";
import { builtInProfileId } from "./built-in-profiles.ts";
import type { ProfileRevision } from "./profiles-store.ts";

/** The profiles that come with Presage, in the form of those that are stored. Each has the one revision. */
export function systemRevisions(families: readonly Family[]): ProfileRevision[] {
  return families.flatMap((family) => {
    const [newest, ...older] = family.versions;
    // Since there is the family, which a later version does not change.
    const createdAt = toMicros(new Date(older.at(-1) ?? newest));
    return family.builtInProfiles.map(({ name, description, config }) => ({
      public_id: builtInProfileId(family.name, name),
      evaluator_family: family.name,
      name,
      revision: 1,
      config: JSON.stringify(config),
      description,
      is_managed: true,
      created_at: createdAt,
      archived_at: null,
    }));
  });
}
